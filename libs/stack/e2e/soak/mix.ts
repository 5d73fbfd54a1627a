import { sleep } from '@pipeline/runtime';
import { SLUG } from '../../test/replicas/host.ts';
import type { Deployment } from '../deployment/deployment.ts';
import { Load } from '../deployment/load.ts';
import { StreamClient } from '../deployment/stream-client.ts';
import { atRate, type Requests } from './requests.ts';

const PER_MINUTE = { issues: 4, comments: 6, actions: 12, reads: 240, newStreams: 2 };
const STREAMS = 8;
const WORKERS = 4;
const PAUSED_MS = 1_000;

/** Events per minute. */
export type Rates = typeof PER_MINUTE;

/** The usual mix, at a multiple of its rates. */
export function mixAt(factor: number): Rates {
  const { issues, comments, actions, reads, newStreams } = PER_MINUTE;
  return {
    issues: issues * factor,
    comments: comments * factor,
    actions: actions * factor,
    reads: reads * factor,
    newStreams: newStreams * factor,
  };
}

export const inWords = ({ issues, comments, actions, reads, newStreams }: Rates): string =>
  `at most ${issues} issues and ${comments} comments on the host with their webhooks, ${reads} reads of both surfaces, ` +
  `${actions} actions of operators and ${newStreams} reconnects of streams per minute; ${STREAMS} streams open, ` +
  `${WORKERS} workers, and the writes to the host that follow`;

/** Reads of the monitor in turn; an issue is an imported one. */
const MONITOR_READS = [
  '/dashboard',
  '/prometheus',
  '/api/issues',
  '/api/task-queue',
  '/api/pipeline-events',
  '/api/alerts',
  '/api/workers',
  '/api/projections',
  '/api/queue/depth',
  '/api/pipeline/cost-summary',
  '/api/pipeline/cohort-funnel',
  '/api/issues/ISSUE/why',
  '/api/issues/ISSUE/digest',
  '/api/timeline/ISSUE',
];
const HOSTED_READS = [
  '/api/cli/bootstrap',
  `/api/cli/issues?repo=${SLUG}`,
  `/api/cli/issues/NUMBER/why?repo=${SLUG}`,
  `/api/cli/pipeline/overview?repo=${SLUG}`,
];

/** All users of the product at the same time, until `stop`. */
export class Mix {
  readonly load: Load;
  readonly #deployment: Deployment;
  readonly #requests: Requests;
  readonly #rates: Rates;
  readonly #stopping = new AbortController();
  #streams: StreamClient[] = [];
  #working: Promise<void>[] = [];
  #issues: number[] = [];
  /** Issues whose pause was sent and whose resume was not answered. */
  readonly #paused = new Set<number>();

  constructor(deployment: Deployment, requests: Requests, rates: Rates) {
    this.#rates = rates;
    this.#deployment = deployment;
    this.#requests = requests;
    this.load = new Load(deployment, { operated: null });
  }

  /** Number of issues opened so far. */
  get issues(): number {
    return this.#issues.length;
  }

  async start(): Promise<void> {
    const { signal } = this.#stopping;
    const rates = this.#rates;
    await this.load.start(WORKERS);
    this.#streams = Array.from({ length: STREAMS }, (_, n) => this.#stream(n));
    this.#working = [
      atRate(rates.issues, signal, (n) => this.#openIssue(n)),
      atRate(rates.comments, signal, (n) => this.#comment(n)),
      atRate(rates.reads, signal, (n) => this.#read(n)),
      atRate(rates.actions / 2, signal, (n) => this.#pauseAndResume(n)),
      atRate(rates.newStreams, signal, (n) => this.#replaceStream(n)),
    ];
  }

  /** Ends all users but the workers, who finish what is open. */
  async stopUsers(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#working);
    for (const stream of this.#streams) await stream.stop();
    for (const number of this.#paused) await this.#resume(number, 0);
  }

  async stop(): Promise<void> {
    await this.stopUsers();
    await this.load.close();
  }

  async #openIssue(n: number): Promise<void> {
    const issue = { title: `Issue ${n}`, labels: ['svc:enqueue'] };
    const made = await this.#host<{ number: number }>('POST', `/repos/${SLUG}/issues`, issue);
    if (made) this.#issues.push(made.number);
  }

  async #comment(n: number): Promise<void> {
    const number = this.#issues.at(-1);
    if (number !== undefined)
      await this.#host('POST', `/repos/${SLUG}/issues/${number}/comments`, { body: `Note ${n}` });
  }

  /** A failure of the host is one of the run too. */
  async #host<T>(method: string, path: string, body: unknown): Promise<T | null> {
    try {
      return await this.#deployment.host.api<T>(method, path, body);
    } catch (error) {
      this.#requests.fail(`the host: ${String(error)}`);
      return null;
    }
  }

  async #read(n: number): Promise<void> {
    const number = this.#issues[n % Math.max(1, this.#issues.length)];
    if (number === undefined) return;
    const { apis, readToken } = this.#deployment;
    const hosted = HOSTED_READS[n % HOSTED_READS.length]?.replace('NUMBER', String(number));
    const monitor = MONITOR_READS[n % MONITOR_READS.length]?.replace('ISSUE', `${SLUG}/${number}`);
    const headers = { authorization: `Bearer ${readToken}` };
    if (n % 2 === 0) await this.#requests.send(`${apis[n % apis.length]?.url}${hosted}`, { headers });
    else await this.#requests.send(`${this.#monitor(n)}${monitor}`);
  }

  /** Pauses and resumes the newest issue. One whose resume fails is resumed at the end. */
  async #pauseAndResume(n: number): Promise<void> {
    const number = this.#issues.at(-1);
    if (number === undefined) return;
    this.#paused.add(number);
    await this.#act(number, 'pause', n);
    await sleep(PAUSED_MS);
    await this.#resume(number, n);
  }

  async #resume(number: number, n: number): Promise<void> {
    if ((await this.#act(number, 'resume', n)) !== null) this.#paused.delete(number);
  }

  #act(number: number, action: string, n: number): Promise<string | null> {
    return this.#requests.send(`${this.#monitor(n)}/api/issues/${SLUG}/${number}/${action}`, { method: 'POST' });
  }

  async #replaceStream(n: number): Promise<void> {
    const at = n % this.#streams.length;
    await this.#streams[at]?.stop();
    if (!this.#stopping.signal.aborted) this.#streams[at] = this.#stream(n);
  }

  #stream = (n: number) => new StreamClient(this.#monitor(n));

  #monitor(n: number): string {
    const { monitors } = this.#deployment;
    return monitors[n % monitors.length]?.url ?? '';
  }
}
