/* arm.dll: functions with frames of all sorts, for the unwind codes that they need. Made by
   python3 -m ziglang cc -target thumb-windows-gnu -O2 -fno-sanitize=all -shared -nostdlib
     -Wl,--entry,DllMainCRTStartup -o arm.dll arm.c
   (PyPI's ziglang 0.17.1). Nothing of it runs. */
#include <stdarg.h>
typedef struct { double a,b,c,d; } S;
extern int ext(int, ...); 
int ext2(char*); double ext3(double,double,double,double);
__declspec(dllexport) int small(int a){ return ext(a)+1; }
__declspec(dllexport) int big(int a){ char b[9000]; return ext2(b)+ext2(b+a); }
__declspec(dllexport) int huge(int a){ static volatile int q; char b[5000000]; q=a; return ext2(b)+ext2(b+a); }
__declspec(dllexport) double fl(double a,double b,double c,double d){ double x=ext3(a,b,c,d), y=ext3(d,c,b,a), z=ext3(a,a,a,a), w=ext3(b,b,b,b); return ext3(x,y,z,w)*a+b*c+d; }
__declspec(dllexport) int va(int n,...){ va_list l; va_start(l,n); int s=0; while(n--) s+=ext(va_arg(l,int)); va_end(l); return s; }
__declspec(dllexport) int dyn(int n){ char *p=__builtin_alloca(n*8); return ext2(p)+ext2(p+n); }
__declspec(dllexport) int many(int a,int b,int c,int d,int e,int f){ int r=0; for(int i=0;i<a;i++){ r+=ext(a,b,c,d,e,f,r,i); if(r==b) return r; if (r==c) return ext(7); r^=ext(d*i)+ext(e+i)+ext(f-i);} return r+a+b+c+d+e+f; }
int ext(int a,...){ return a*3; } 
int __attribute__((noinline)) ext2(char*p){ for(int i=0;i<100;i++)((volatile char*)p)[i]=i; return p[3]; } double __attribute__((noinline)) ext3(double a,double b,double c,double d){ return a*b+c*d; }
int _tls_index; int DllMainCRTStartup(void*a,int b,void*c){return 1;}
void __chkstk(void){}
