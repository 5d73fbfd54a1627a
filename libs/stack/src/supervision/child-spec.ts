/** A line of a child's standard output that is a JSON object. */
export type Line = Readonly<Record<string, unknown>>;

/** A program that the stack keeps running. */
export interface ChildSpec {
  name: string;
  /** A TypeScript file and its arguments. */
  argv: readonly string[];
  /** All of its environment. */
  env: Readonly<Record<string, string>>;
  /** Content of the line that shows that it works (its address, say); null = not that line. That line is not logged. */
  readyFrom(line: Line): string | null;
  /** Writes its JSON lines to its own file; only what else it prints is kept by us. */
  logsItself: boolean;
  /** Milliseconds from one signal to the next: SIGTERM, SIGTERM for programs that know a second one, SIGKILL. */
  stopSteps: readonly number[];
  /** Pid file of a daemon that it looks after: one that must end with it when it is killed. */
  daemonPidFile?: string;
}

export interface ChildEnd {
  code: number | null;
  signal: string | null;
}

/** The address that a service logs when it listens. */
export const addressFrom = ({ msg, url }: Line): string | null =>
  typeof url === 'string' && (msg === undefined || msg === 'listening') ? url : null;

export const messageIs =
  (wanted: string) =>
  ({ msg }: Line): string | null =>
    msg === wanted ? '' : null;

/** The preload that ends a child whose parent has died. */
export const leashUrl = (parent: string | number, ...flags: string[]): string =>
  `${new URL('./leash.ts', import.meta.url)}?${[...flags, `parent=${parent}`].join('&')}`;

export const howEnded = ({ code, signal }: ChildEnd): string => (signal === null ? `exit code ${code}` : signal);
