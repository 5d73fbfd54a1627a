import { beforeEach, expect } from '@jest/globals';
import { DEFAULT_SETTINGS, type IntelligenceInput, type Settings } from '@pipeline/domain';
import { type Engine, OpenAiEmbedder } from '@pipeline/engine';
import { type TestDatabase, testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { admit } from '../support/bench.ts';
import type { Call } from '../support/served-app.ts';
import { Shop } from '../support/shop.ts';
import { learnt, workOn } from '../workers/agent-work.ts';

interface Item {
  id: string;
  title: string;
  status: string;
  source: string;
  observationCount: number;
  confidence: number | null;
  scopes?: { scopeKind: string; scopeRef: string }[];
  evidence?: { evidenceType: string; ref: string | null; path: string | null }[];
  [key: string]: unknown;
}

interface Listed {
  items: Item[];
  page: { total: number | null; limit: number; offset: number; hasMore: boolean };
}

export interface Retrieved {
  snippets: { title: string; reason: string; itemId: string; scope: object[]; evidence: object[] }[];
  omitted: { reason: string; count: number }[];
  candidateFiles: { path: string; score: number; method: string; why: string }[];
  tokenEstimate: number;
  truncated: boolean;
  methodBreakdown: Record<string, number>;
  retrievalContext: Record<string, unknown>;
}

export const titles = ({ snippets }: Retrieved): string[] => snippets.map(({ title }) => title);

/** Intelligence about Acme/Shop, for the tests of a file; before each of them it is emptied, and time goes on. */
export class IntelligenceWorld {
  /** The settings that hold; a test may put others. */
  retrieval: Settings['retrieval'] = DEFAULT_SETTINGS.retrieval;
  /** Number of the newest issue. */
  number = 0;
  readonly bench = new Shop(testDatabase(), {
    settings: () => ({ ...DEFAULT_SETTINGS, retrieval: this.retrieval }),
    embedder: new OpenAiEmbedder({
      variables: { EMBEDDING_KEY: 's3cret' },
      now: () => this.database.clock.now ?? new Date(),
    }),
  });
  readonly database: TestDatabase = this.bench.database;
  readonly call: Call = this.bench.call;

  constructor() {
    beforeEach(async () => {
      this.database.clock.now = null;
      this.retrieval = DEFAULT_SETTINGS.retrieval;
      await sql`truncate finding_sightings, findings, intelligence_evidence, intelligence_scopes,
        intelligence_embeddings, intelligence_items, repo_files, repo_scans, retrospectives`.execute(this.database.db);
    });
  }

  get engine(): Engine {
    return this.bench.engine;
  }

  async list(query = ''): Promise<Listed> {
    return (await this.call('GET', `/api/intelligence?repo=acme/shop${query}`)).json as never as Listed;
  }

  async detail(id: string): Promise<Item> {
    return ((await this.call('GET', `/api/intelligence/${id}`)).json as never as { item: Item }).item;
  }

  move(id: string, name: string, body: object = {}) {
    return this.call('POST', `/api/intelligence/${id}/${name}`, { body });
  }

  async retrieve(query: string): Promise<Retrieved> {
    const { status, json } = await this.call('GET', `/api/intelligence/retrieve?repo=acme/shop&${query}`);
    expect([status, json]).toEqual([200, expect.any(Object)]);
    return json as never as Retrieved;
  }

  /** Lets the next issue in. @returns its row's id. */
  admit(): Promise<number> {
    this.number += 1;
    return admit(this.bench, this.number);
  }

  /** A new issue with this text. @returns its number. */
  async issueThat(title: string, body: string, planned: string[] = []): Promise<number> {
    const id = await this.admit();
    const row = { title, body, planned_files: planned };
    await this.database.db.updateTable('issues').set(row).where('id', '=', id).execute();
    return this.number;
  }

  /** An agent works on a new issue and reports this. */
  async learn(items: Partial<IntelligenceInput>[], times = 1): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      await this.admit();
      await workOn(this.bench, { intelligence: items.map(learnt) });
    }
  }

  async learnOne(over: Partial<IntelligenceInput> = {}, times = 1): Promise<Item> {
    await this.learn([over], times);
    return (await this.list()).items[0] as Item;
  }

  /** Gives one item that status, or all of them. */
  stand(status: string, id: string | null = null) {
    return sql`update intelligence_items set status = ${status} where ${id}::uuid is null or id = ${id}`.execute(
      this.database.db,
    );
  }
}
