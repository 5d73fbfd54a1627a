/** The stream of changes of the customers' pages: only of the own organisation, only with a session, bounded. */

import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { hashTokenBytes } from '@pipeline/engine';
import { insertSession } from '@pipeline/store';
import { until } from '@pipeline/testing/until';
import { type Minted, mintConnection } from '../support/connections.ts';
import { labelIssue, makeTenant, type Tenant } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('changes for a browser', () => {
  const { database } = hosting;

  interface Org {
    slug: string;
    tenant: Tenant;
    owner: Minted;
  }
  let alpha: Org;
  let beta: Org;

  async function makeOrg(): Promise<Org> {
    const tenant = await makeTenant(hosting.api);
    const found = database.db.selectFrom('tenants').select('external_id').where('id', '=', tenant.id);
    const { external_id: slug } = await found.executeTakeFirstOrThrow();
    return { slug, tenant, owner: await mintConnection(database.owner, { tenantId: tenant.id, role: 'owner' }) };
  }
  beforeAll(async () => {
    alpha = await makeOrg();
    beta = await makeOrg();
  });

  async function sessionOf(userId: number): Promise<{ cookie: string; hash: Buffer }> {
    const value = randomBytes(32).toString('base64url');
    const hash = hashTokenBytes(value);
    await insertSession(database.store.db, hash, userId, 600_000);
    return { cookie: `__Host-pipeline_session=${value}`, hash };
  }

  /** A stream, read as text. */
  class Changes {
    text = '';
    ended = false;
    readonly #abort = new AbortController();
    readonly status: Promise<number>;

    constructor(org: string, cookie: string) {
      const url = `${hosting.api.url}/account/data/changes?org=${org}`;
      const response = fetch(url, { headers: { cookie }, signal: this.#abort.signal });
      this.status = response.then(({ status }) => status);
      void response.then((opened) => this.#read(opened)).catch(() => undefined);
    }

    async #read({ body }: Response): Promise<void> {
      const decoder = new TextDecoder();
      for await (const chunk of body ?? []) this.text += decoder.decode(chunk, { stream: true });
      this.ended = true;
    }

    get changes(): number {
      return this.text.split('event: changed').length - 1;
    }

    close(): void {
      this.#abort.abort();
    }
  }

  async function opened(org: Org, cookie: string): Promise<Changes> {
    const stream = new Changes(org.slug, cookie);
    expect(await stream.status).toBe(200);
    await until('the stream is open', () => stream.text.includes(': alive'));
    return stream;
  }

  test('reports a change of the own organisation, without content, and none of another one', async () => {
    const ours = await opened(alpha, (await sessionOf(alpha.owner.userId)).cookie);
    const theirs = await opened(beta, (await sessionOf(beta.owner.userId)).cookie);
    await labelIssue(hosting.api, alpha.tenant.repo, 1);
    await until('the change is reported', () => ours.changes > 0);
    expect(ours.text.replace(/: alive\n\n|event: changed\ndata: \{\}\n\n/g, '')).toBe('');
    expect(theirs.text).toBe(': alive\n\n');
    await labelIssue(hosting.api, beta.tenant.repo, 1);
    await until('the change is reported', () => theirs.changes > 0);
    ours.close();
    theirs.close();
  });

  test('reports many changes of a moment in two messages', async () => {
    const stream = await opened(alpha, (await sessionOf(alpha.owner.userId)).cookie);
    const { changes } = hosting.api.context;
    await until('earlier changes are reported', async () => !changes.isResting);
    const before = stream.changes;
    for (let time = 0; time < 50; time += 1) changes.changed([alpha.tenant.id]);
    await until('the changes are reported', () => !changes.isResting);
    await until('both came', () => stream.changes >= before + 2);
    expect(stream.changes).toBe(before + 2);
    stream.close();
  });

  test.each(['session', 'membership'] as const)('ends when the %s has ended', async (what) => {
    const member = await mintConnection(database.owner, { tenantId: alpha.tenant.id });
    const { cookie, hash } = await sessionOf(member.userId);
    const stream = await opened(alpha, cookie);
    await hosting.api.context.changes.loop.tick();
    expect(stream.ended).toBe(false);
    if (what === 'session') await database.db.deleteFrom('user_sessions').where('hash', '=', hash).execute();
    else await database.db.deleteFrom('memberships').where('user_id', '=', member.userId).execute();
    await hosting.api.context.changes.loop.tick();
    await until('the stream has ended', () => stream.ended);
  });

  test('returns 429 for more than 20 streams of a user, and a free place when one closes', async () => {
    const member = await mintConnection(database.owner, { tenantId: alpha.tenant.id });
    const cookies = [(await sessionOf(member.userId)).cookie, (await sessionOf(member.userId)).cookie] as const;
    const streams = await Promise.all(
      Array.from({ length: 20 }, (_, index) => opened(alpha, cookies[index % 2] ?? '')),
    );
    const refused = await fetch(`${hosting.api.url}/account/data/changes?org=${alpha.slug}`, {
      headers: { cookie: cookies[0] },
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30']);
    await refused.body?.cancel();
    streams[0]?.close();
    await until('a place is free', async () => {
      const stream = new Changes(alpha.slug, cookies[0]);
      const isOpen = (await stream.status) === 200;
      stream.close();
      return isOpen;
    });
    for (const stream of streams) stream.close();
  });

  test('ends all streams when the service stops', async () => {
    const other = await hosting.start();
    const { cookie } = await sessionOf(alpha.owner.userId);
    const response = await fetch(`${other.url}/account/data/changes?org=${alpha.slug}`, { headers: { cookie } });
    const text = response.text();
    await other.close();
    expect(await text).toBe(': alive\n\n');
  });
});
