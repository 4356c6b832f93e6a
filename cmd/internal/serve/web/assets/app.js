// The page of cortext serve.
