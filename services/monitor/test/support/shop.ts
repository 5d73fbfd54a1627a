import { afterAll, beforeAll } from '@jest/globals';
import type { Engine } from '@pipeline/engine';
import type { TestDatabase } from '@pipeline/testing';
import { type Bench, makeBench } from './bench.ts';
import { type Call, serveConnected } from './served-app.ts';

/** Acme/Shop on the database of a test file, served by a monitor. Made once, at the top of the file or describe block. */
export class Shop implements Bench {
  readonly database: TestDatabase;
  #running: { bench: Bench; call: Call; close: () => Promise<void> } | undefined;

  /** @param over what its engine has instead. */
  constructor(database: TestDatabase, over: Partial<Engine> = {}) {
    this.database = database;
    beforeAll(async () => {
      const bench = await makeBench(this.database.store, 'Acme/Shop');
      Object.assign(bench.engine, over);
      const now = () => this.database.clock.now ?? new Date();
      this.#running = { bench, ...(await serveConnected({ engine: bench.engine }, { now })) };
    });
    afterAll(() => this.#running?.close());
  }

  get #now() {
    if (!this.#running) throw new Error('no test has begun');
    return this.#running;
  }

  get engine(): Engine {
    return this.#now.bench.engine;
  }

  get tenantId(): number {
    return this.#now.bench.tenantId;
  }

  get repo(): Bench['repo'] {
    return this.#now.bench.repo;
  }

  get bells(): string[] {
    return this.#now.bench.bells;
  }

  readonly call: Call = (...request) => this.#now.call(...request);
}
