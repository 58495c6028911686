// One scenario with a name, and groups in it.
import { group, check } from 'k6'; import http from 'k6/http'; import {Counter} from 'k6/metrics'; const c=new Counter('cc');
export const options={scenarios:{only:{executor:'per-vu-iterations',vus:1,iterations:2}}, thresholds: {'http_reqs{group:::web}': ['count>0'], 'http_req_duration{expected_response:true}': ['p(99)<5000']}};
export default function(){ http.get(__ENV.BASE); group('web',()=>http.get(__ENV.BASE)); group('g',()=>{c.add(1); group('h',()=>check(1,{x:true}))}); group('g',()=>c.add(1)); }
