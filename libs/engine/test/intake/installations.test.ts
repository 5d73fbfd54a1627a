import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, type HostEvent } from '@pipeline/domain';
import { admin, drainInbox, type Engine, receiveDelivery } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { makeBench } from '../harness.ts';

const database = testDatabase();
let engine: Engine;
let deliveries = 0;

beforeEach(async () => {
  ({ engine } = await makeBench(database.store, { slug: 'acme/known' }));
});

const ACCOUNT = { id: 4711, login: 'globex' };
async function install(
  names: string[],
  over: Partial<Pick<Extract<HostEvent, { kind: 'repositories' }>, 'account'>> = {},
) {
  const added = names.map((name) => ({ owner: 'globex', name }));
  deliveries += 1;
  const event = { kind: 'repositories', installationId: 7, account: ACCOUNT, sender: 'ann' } as const;
  const all: HostEvent[] = [{ ...event, webUrl: 'https://github.example.com', added, removed: [], ...over }];
  await receiveDelivery(engine, `installation-${deliveries}`, 'installation', all);
  await drainInbox(engine, () => null);
}
const byAccount = () => {
  engine.settings = () => ({ ...DEFAULT_SETTINGS, installations: 'organisation' });
};
const repos = async (name: string) =>
  (await admin.listRepos({ engine, actor: 'olga', reason: null }, null))
    .filter(({ repo }) => repo.endsWith(`/${name}`))
    .map(({ org, repo, enabled }) => ({ org, repo, enabled }));
const cloneUrl = (name: string) =>
  database.db.selectFrom('repos').select('clone_url').where('name', '=', name).executeTakeFirstOrThrow();

describe('repositories of an installation', () => {
  test('belong to the default organisation, disabled, with the address of their host', async () => {
    await install(['shop']);
    expect(await repos('shop')).toEqual([{ org: 'default', repo: 'globex/shop', enabled: false }]);
    expect(await cloneUrl('shop')).toEqual({ clone_url: 'https://github.example.com/globex/shop.git' });
  });

  test('belong to an organisation of their account when that is configured, also after it is renamed', async () => {
    byAccount();
    await install(['till']);
    await install(['docs'], { account: { ...ACCOUNT, login: 'globex-corp' } });
    expect(await repos('till')).toEqual([{ org: 'github-4711', repo: 'globex/till', enabled: false }]);
    expect(await repos('docs')).toEqual([{ org: 'github-4711', repo: 'globex/docs', enabled: false }]);
    await install(['wiki'], { account: { id: 4712, login: 'globex' } });
    expect(await repos('wiki')).toMatchObject([{ org: 'github-4712' }]);
  });

  test('stay where they are, and as they are, when an organisation has them already', async () => {
    await install(['api']);
    await admin.enableRepo({ engine, actor: 'olga', reason: null }, 'globex/api', {
      org: null,
      enabled: true,
      gateOf: null,
    });
    byAccount();
    await install(['api']);
    expect(await repos('api')).toEqual([{ org: 'default', repo: 'globex/api', enabled: true }]);
  });
});
