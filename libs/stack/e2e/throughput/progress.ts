import { sleep } from '@pipeline/runtime';
import pg from 'pg';

const EVERY_MS = 1_000;

const OPEN_WORK = `select (select count(*) from tasks)
  + (select count(*) from repo_scans where due_at <= now())
  + (select count(*) from projections where status = 'pending')
  + (select count(*) from webhook_deliveries where processed_at is null) as n`;

/**
 * Progress of the issues. It keeps one connection and asks little, because what it costs the server is measured with
 * the services' own work.
 */
export class Progress {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(url: string): Promise<Progress> {
    const client = new pg.Client({ connectionString: url, options: '-c search_path=pipeline,public' });
    await client.connect();
    return new Progress(client);
  }

  /** Waits until so many issues are done and nothing is left to do. @returns false when that took too long. */
  async untilDone(issues: number, withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    while (performance.now() < deadline) {
      const done = await this.#count("select count(*) as n from issues where state = 'done'");
      if (done >= issues && (await this.#count(OPEN_WORK)) === 0) return true;
      await sleep(EVERY_MS);
    }
    return false;
  }

  endedRuns(): Promise<number> {
    return this.#count("select count(*) as n from runs where status <> 'claimed'");
  }

  close(): Promise<void> {
    return this.#client.end();
  }

  async #count(text: string): Promise<number> {
    const { rows } = await this.#client.query<{ n: string }>(text);
    return Number(rows[0]?.n);
  }
}
