// Samples of setup and teardown, and two scenarios that share nothing but names.
import { group, check } from 'k6'; import {Counter} from 'k6/metrics'; const c=new Counter('cc');
export const options={scenarios:{zz:{executor:'per-vu-iterations',vus:1,iterations:2}, aa:{executor:'per-vu-iterations',vus:1,iterations:2,exec:'other'}}};
export default function(){ group('g',()=>{c.add(1);check(1,{x:true, y:false}); group('h',()=>check(1,{x:true}))}); group('g',()=>c.add(1)); }
export function other(){ }
export function setup(){ c.add(5); group('in setup',()=>c.add(7)); check(1,{s:true}) }
export function teardown(){ c.add(6); check(1,{t:true})}
