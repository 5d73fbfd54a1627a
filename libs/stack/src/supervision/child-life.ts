import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartError, withDeadline } from '@pipeline/runtime';
import { type ChildLog, eachLine, parseLine } from './child-log.ts';
import { type ChildEnd, type ChildSpec, howEnded, leashUrl } from './child-spec.ts';

/** A child ended before it worked; its output about that is shown. */
export class ChildFailed extends StartError {
  constructor(name: string, end: ChildEnd, tail: string) {
    const why = tail === '' ? '' : `:\n${tail}`;
    super(`${name} did not start (${howEnded(end)})${why}`, { exitCode: end.code || 1 });
    this.name = 'ChildFailed';
  }
}

/**
 * One run of a child, as the leader of a process group of its own: Ctrl-C at the terminal reaches the stack alone,
 * which then ends its children in order.
 */
export class ChildLife {
  readonly pid: number;
  /** Settles with the result of its ready line. @throws ChildFailed */
  readonly ready: Promise<string>;
  readonly ended: Promise<ChildEnd>;
  readonly #spec: ChildSpec;
  #over = false;

  constructor(spec: ChildSpec, log: ChildLog) {
    this.#spec = spec;
    log.clear();
    const leash = leashUrl(process.pid, ...(spec.stopSteps.length > 1 ? ['again'] : []));
    const flags = ['--disable-warning=ExperimentalWarning', '--import', leash];
    const child = spawn(process.execPath, [...flags, ...spec.argv], {
      env: { ...spec.env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.pid = child.pid ?? 0;
    this.ended = endOf(child).finally(() => {
      this.#over = true;
      // What it started and left behind must not get in the way of its successor.
      if (this.pid > 0) send(-this.pid, 'SIGKILL');
    });
    this.ready = new Promise((ready, failed) => {
      keepOutput(child, spec, log, ready);
      this.ended.then((end) => failed(new ChildFailed(spec.name, end, log.tail)), failed);
    });
    // Callers that do not await it use `ended`.
    this.ready.catch(() => undefined);
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Signals one after the other until it has ended; nothing of its group is left. */
  async stop(): Promise<void> {
    for (const ms of this.#spec.stopSteps) {
      if (this.#over) return;
      send(this.pid, 'SIGTERM');
      if (await this.#endsWithin(ms)) return;
    }
    this.kill();
    await this.ended;
  }

  /** Ends it at once, with its group and the daemon that it looks after. Synchronous: works while we exit. */
  kill(): void {
    if (!this.#over && this.pid > 0) send(-this.pid, 'SIGKILL');
    const file = this.#spec.daemonPidFile;
    const daemon = file === undefined ? null : daemonPid(file);
    // To Postgres: an immediate shutdown, which takes its own children along.
    if (daemon !== null) send(daemon, 'SIGQUIT');
  }

  async #endsWithin(ms: number): Promise<boolean> {
    return withDeadline(this.ended, ms, this.#spec.name).then(
      () => true,
      () => false,
    );
  }
}

function keepOutput(child: ChildProcess, spec: ChildSpec, log: ChildLog, ready: (result: string) => void): void {
  const take = (line: string) => {
    const parsed = parseLine(line);
    const result = parsed && spec.readyFrom(parsed);
    if (result !== null) ready(result);
    else if (parsed === null) log.text(line);
    else {
      const { level, msg, message = msg } = parsed;
      if (level === 'error' || level === 'fatal') log.remember(String(message));
      if (!spec.logsItself) log.json(line);
    }
  };
  for (const stream of [child.stdout, child.stderr]) if (stream) eachLine(stream, take);
}

/** After its output has been read. */
const endOf = (child: ChildProcess): Promise<ChildEnd> =>
  new Promise((ended, failed) => {
    child.once('error', failed);
    child.once('exit', (code, signal) => {
      // A grandchild may hold the pipes for longer.
      void withDeadline(new Promise((closed) => child.once('close', closed)), 500, 'its output')
        .catch(() => undefined)
        .then(() => ended({ code, signal }));
    });
  });

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** null when nothing of that number works in the file's folder, for the file may be older than its process. */
function daemonPid(file: string): number | null {
  try {
    const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
    if (!(pid > 0)) return null;
    const isOurs = !existsSync('/proc/self') || readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dirname(file));
    return isOurs ? pid : null;
  } catch {
    return null;
  }
}
