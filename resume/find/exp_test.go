package find
import ("testing";"os";"strings";"fmt")
func TestExp(t *testing.T){
 rd:=func(p string)[]string{b,_:=os.ReadFile("/tmp/dig/fz/"+p);return strings.Split(strings.TrimSpace(string(b)),"\n")}
 titles,words:=rd("all"),rd("words")
 for _,N:=range []int{50,200,820}{
 q,fp:=0,0; cnt:=0
 for _,w:=range words{ if len(w)<4{continue}
  hit:=false; var ex string; sub:=false;c:=0
  for _,x:=range titles[:N]{ f:=fold(x); if strings.Contains(f,w){sub=true;break}; if scattered(w,f){hit=true;ex=x;c++}}
  if sub{continue}
  q++; if hit{fp++;cnt+=c; if N==820 && fp%6==0{fmt.Println(w,"->",ex)}}
 }
 fmt.Println(N,q,fp,cnt)
 }
 for _,p:=range [][2]string{{"brnstrm","brainstorm api design"},{"bstorm","brainstorm api"},{"brapi","brainstorm api design"},{"apidsgn","api design discussion"},{"apidesign","api design"},{"cfg","config loader"},{"cnfg","config loader"},{"dsgn","api design"},{"rstgql","rest vs graphql"},{"graphq","graphql"},{"rgql","rest vs graphql"},{"authn","authentication"},{"autentication","authentication flow"},{"kubrnetes","kubernetes deploy"},{"authmw","auth middleware"},{"dbmig","database migration"},{"logn","login bug"},{"fxlogin","fix login bug"},{"flb","fix login bug"},{"refctr","refactor parser"}}{
  fmt.Println(p[0],p[1],price([]rune(p[0]),p[1]),len(p[0])/2,scattered(p[0],p[1]))
 }
}
