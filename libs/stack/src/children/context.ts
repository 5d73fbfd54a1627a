import { fileURLToPath } from 'node:url';
import type { Ports } from '../data/ports.ts';
import type { StackState } from '../data/state.ts';

/** Values from which the children are described. */
export interface ChildContext {
  dataDir: string;
  state: StackState;
  ports: Ports;
  /** Variables that every child gets: where programs are found, how much is logged. */
  inherited: Readonly<Record<string, string>>;
}

export const HOST = '127.0.0.1';

export const urlOf = (ports: Ports, name: keyof Ports): string => `http://${HOST}:${ports[name]}`;

/** The root of this checkout. */
export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
