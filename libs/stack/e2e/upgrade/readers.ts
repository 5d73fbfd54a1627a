import { clientCredentials, createHostedClient, createMonitorClient } from '@pipeline/client';
import { sleep } from '@pipeline/runtime';
import type { ClientCredentials } from './contract-runs.ts';
import { OPERATOR } from './rollout.ts';

/** Pause of a reader between two requests. */
const PAUSE_MS = 100;
const RETRIES = 5;

/** The list of issues, which both services have. */
interface IssueList {
  query: { repo?: string; state?: string };
  result: { items: unknown[] };
}

interface ReadersOptions {
  urls: { hosted: string; monitor: string };
  client: ClientCredentials;
  /** Repo of the organisation of the client. */
  repo: string;
}

/** Clients of both services that read all the time and retry as the published client does. */
export class Readers {
  requests = 0;
  /** Requests that failed in spite of all retries. */
  readonly lost: string[] = [];
  readonly #stopping = new AbortController();
  readonly #reading: Promise<unknown>;

  constructor({ urls, client, repo }: ReadersOptions) {
    const token = clientCredentials({ url: urls.hosted, ...client });
    const hosted = createHostedClient<{ listIssues: IssueList }>({ url: urls.hosted, token, retries: RETRIES });
    const monitor = createMonitorClient<{ searchIssues: IssueList }>({
      url: urls.monitor,
      ...OPERATOR,
      retries: RETRIES,
    });
    const query = { repo };
    this.#reading = Promise.all([
      this.#read('the hosted API', () => hosted.listIssues({ query })),
      this.#read('the monitor', () => monitor.searchIssues({ query })),
    ]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#reading;
  }

  async #read(service: string, request: () => Promise<{ items: unknown[] }>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const { items } = await request();
        if (items.length === 0) this.lost.push(`${service}: an empty list`);
      } catch (error) {
        const cause = error instanceof Error && error.cause !== undefined ? `: ${String(error.cause)}` : '';
        this.lost.push(`${service}: ${String(error)}${cause}`);
      }
      this.requests += 1;
      await sleep(PAUSE_MS, signal);
    }
  }
}
