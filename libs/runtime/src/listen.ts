import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartError } from './start-error.ts';

interface ListenOn {
  host: string;
  /** 0 = any free port. */
  port: number;
  /** Environment variable of the port, for the error message when the port is in use. */
  variable: string;
}

/**
 * Starts to listen.
 * @returns the base URL with the actual port.
 * @throws StartError naming the environment variable when the address is not available.
 */
export function listenOn(server: Server, { host, port, variable }: ListenOn): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reasons: Record<string, string> = {
        EADDRINUSE: `port ${port} on ${host} is in use; set ${variable} to another one`,
        EACCES: `port ${port} on ${host} needs more rights; set ${variable} to one above 1023`,
        EADDRNOTAVAIL: `${host} is no address of this machine; set HOST to one`,
      };
      reject(
        new StartError(reasons[cause.code ?? ''] ?? `cannot listen on ${host}:${port}: ${cause.message}`, { cause }),
      );
    });
    server.listen(port, host, () => {
      const { port: taken } = server.address() as AddressInfo;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${taken}`);
    });
  });
}
