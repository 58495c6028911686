// Checks whose names no tag tells.
import { check,group } from 'k6'; 
export const options={systemTags:['status','group']};
export default function(){ check(1,{x:true,y:false}); group('g',()=>check(1,{x:true})) }
