// Loaded before a server that would listen on all of the machine's addresses: it listens on
// 127.0.0.1 alone.
import { Server } from "node:net";

const { listen } = Server.prototype;
Server.prototype.listen = function (where, ...rest) {
  return listen.call(this, { ...where, host: "127.0.0.1" }, ...rest);
};
