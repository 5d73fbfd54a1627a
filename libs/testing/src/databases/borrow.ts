import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Lent, Problems, Returned } from './database-pool.ts';

/** Names the socket of the pool server in the environment of the test processes. */
export const POOL_SERVER = 'PIPELINE_TEST_DATABASES';

/** Requests a database of the pool server. @throws Error when the run has no pool server or the server did not start. */
export const borrowDatabase = (socket: string | undefined): Promise<Lent> => ask(socket, 'GET');

/** Gives it back, to be dropped. @returns what is wrong with how it was used. */
export const returnDatabase = (socket: string | undefined, returned: Returned): Promise<Problems> =>
  ask(socket, 'POST', returned);

async function ask<T>(socket: string | undefined, method: string, body?: object): Promise<T> {
  if (socket === undefined)
    throw new Error(`${POOL_SERVER} is not set: run tests through jest.config.mjs of this workspace`);
  return new Promise((resolve, reject) => {
    // No connection is kept: the server would close an idle one just when another file uses it.
    const call = request({ socketPath: socket, path: '/', method, agent: false }, (response) => {
      text(response).then((answer) => {
        if (response.statusCode === 200) resolve(JSON.parse(answer));
        else reject(new Error(`no Postgres for tests: ${answer}`));
      }, reject);
    });
    call.on('error', reject).end(body && JSON.stringify(body));
  });
}
