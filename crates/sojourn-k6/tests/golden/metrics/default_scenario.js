// A scenario by the name of k6's shortcuts beside another.
import { group } from 'k6'; import {Counter} from 'k6/metrics'; const c=new Counter('cc');
export const options={scenarios:{default:{executor:'per-vu-iterations',vus:1,iterations:1}, aa:{executor:'per-vu-iterations',vus:1,iterations:1}}};
export default function(){ c.add(1); group('g',()=>c.add(1)) }
