import { createServer } from 'node:net';
import { StartError } from '@pipeline/runtime';

/** The servers of the stack, and the variable that moves each. */
export const PORT_VARIABLES = {
  hosted: 'HOSTED_PORT',
  monitor: 'MONITOR_PORT',
  sandbox: 'SANDBOX_PORT',
  postgres: 'POSTGRES_PORT',
} as const;
export type Ports = Record<keyof typeof PORT_VARIABLES, number>;

const HOST = '127.0.0.1';
const NAMES = Object.keys(PORT_VARIABLES) as (keyof Ports)[];

/**
 * Chooses a port for each server before anything is started. 0 = the one of the last start if it is free, so that
 * addresses written down elsewhere stay true, else any that is free.
 * @throws StartError naming the variable of a port that is taken, or wanted twice.
 */
export async function choosePorts(wanted: Readonly<Ports>, last: Readonly<Ports> | null): Promise<Ports> {
  const chosen: Ports = { ...wanted };
  for (const name of NAMES.filter((each) => wanted[each] > 0)) {
    const other = NAMES.find((each) => each !== name && wanted[each] === wanted[name]);
    if (other) throw new StartError(`${PORT_VARIABLES[name]} and ${PORT_VARIABLES[other]} are both ${wanted[name]}`);
    if (!(await isFree(wanted[name]))) throw taken(name, wanted[name]);
  }
  for (const name of NAMES.filter((each) => wanted[each] === 0)) {
    const before = last?.[name] ?? 0;
    const isKept = before > 0 && !Object.values(chosen).includes(before) && (await isFree(before));
    chosen[name] = isKept ? before : await anyFree(Object.values(chosen));
  }
  return chosen;
}

function taken(name: keyof Ports, port: number): StartError {
  const variable = PORT_VARIABLES[name];
  return new StartError(
    `port ${port} on ${HOST} is in use; set ${variable} to another one (${variable}=0: any free one)`,
  );
}

async function anyFree(others: readonly number[]): Promise<number> {
  for (;;) {
    const port = await listenOnce(0);
    if (!others.includes(port)) return port;
  }
}

const isFree = (port: number): Promise<boolean> =>
  listenOnce(port).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return false;
      throw new StartError(`cannot listen on ${HOST}:${port}: ${error.message}`, { cause: error });
    },
  );

function listenOnce(port: number): Promise<number> {
  return new Promise((found, failed) => {
    const probe = createServer().once('error', failed);
    probe.listen(port, HOST, () => {
      const address = probe.address();
      probe.close(() => found(typeof address === 'object' && address ? address.port : port));
    });
  });
}
