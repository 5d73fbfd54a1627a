/** Owners change the members of their organisation in the browser, and nobody else does. */

import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { hashTokenBytes } from '@pipeline/engine';
import { insertSession } from '@pipeline/store';
import { type Minted, mintConnection } from '../support/connections.ts';
import { answerOf, makeTenant } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('members of an organisation', () => {
  const { database } = hosting;

  interface Person extends Minted {
    cookie: string;
    formToken: string;
  }
  interface Org {
    tenantId: number;
    slug: string;
  }

  let org: Org;
  let owner: Person;
  let member: Person;
  /** Owner of another organisation. */
  let stranger: Person;

  async function makeOrg(): Promise<Org> {
    const { id } = await makeTenant(hosting.api, 'same/shop');
    const found = database.db.selectFrom('tenants').select('external_id').where('id', '=', id);
    return { tenantId: id, slug: (await found.executeTakeFirstOrThrow()).external_id };
  }

  async function personIn({ tenantId }: Org, role: 'owner' | 'member'): Promise<Person> {
    const minted = await mintConnection(database.owner, { tenantId, role });
    const value = randomBytes(32).toString('base64url');
    await insertSession(database.store.db, hashTokenBytes(value), minted.userId, 600_000);
    const cookie = `__Host-pipeline_session=${value}`;
    const { body } = await user(cookie);
    return { ...minted, cookie, formToken: body.formToken };
  }

  const user = async (cookie: string) =>
    answerOf(await hosting.api.fetch(`${hosting.api.url}/account/data/user`, { headers: { cookie } }));

  async function send(who: Person, path: string, body?: object, slug = org.slug) {
    const headers: Record<string, string> = { cookie: who.cookie, 'x-form-token': who.formToken };
    const init =
      body === undefined
        ? { headers }
        : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return answerOf(await hosting.api.fetch(`${hosting.api.url}/account/data/${path}?org=${slug}`, init));
  }

  const rolesOf = async () => {
    const { body } = await send(owner, 'members');
    return Object.fromEntries(body.items.map(({ email, role }: { email: string; role: string }) => [email, role]));
  };
  const actions = async () => {
    const rows = await database.db.selectFrom('audit_log').selectAll().orderBy('id').execute();
    return rows
      .filter(({ actor_id }) => actor_id === owner.email)
      .map(({ actor_type, action, subject, reason }) => [action, subject, reason, actor_type]);
  };

  beforeEach(async () => {
    org = await makeOrg();
    owner = await personIn(org, 'owner');
    member = await personIn(org, 'member');
    stranger = await personIn(await makeOrg(), 'owner');
  });

  describe('an owner', () => {
    test('invites a person by a link that is shown once, and revokes it', async () => {
      const invited = await send(owner, 'invitations', { email: 'new@example.org', role: 'owner', days: 3 });
      expect(invited).toMatchObject({ status: 200, body: { email: 'new@example.org', role: 'owner' } });
      const link = `${hosting.api.url}${invited.body.path}`;
      expect((await hosting.api.fetch(link)).status).toBe(200);
      const { body } = await send(owner, 'invitations');
      expect(body.items).toMatchObject([{ id: invited.body.id, email: 'new@example.org', invitedBy: owner.email }]);
      expect(JSON.stringify(body)).not.toContain(invited.body.path.split('=')[1]);
      expect((await send(owner, `invitations/${invited.body.id}/revoke`, {})).body).toEqual({
        id: invited.body.id,
        revoked: true,
      });
      expect((await hosting.api.fetch(link)).status).toBe(404);
      expect((await send(owner, 'invitations')).body.items).toEqual([]);
      expect((await send(owner, `invitations/${invited.body.id}/revoke`, {})).status).toBe(404);
      expect(await actions()).toEqual([
        [
          'invitation-create',
          `invitation ${invited.body.id} of org ${org.slug}`,
          'by an owner, in the browser',
          'user',
        ],
        [
          'invitation-revoke',
          `invitation ${invited.body.id} of org ${org.slug}`,
          'by an owner, in the browser',
          'user',
        ],
      ]);
    });

    test('a new invitation replaces the open one for the same address', async () => {
      const first = await send(owner, 'invitations', { email: 'new@example.org', role: 'owner' });
      await send(owner, 'invitations', { email: 'other@example.org', role: 'member' });
      const second = await send(owner, 'invitations', { email: 'New@example.org', role: 'member' });
      expect([first.body.replaced, second.body.replaced]).toEqual([false, true]);
      expect((await hosting.api.fetch(`${hosting.api.url}${first.body.path}`)).status).toBe(404);
      expect((await hosting.api.fetch(`${hosting.api.url}${second.body.path}`)).status).toBe(200);
      const { body } = await send(owner, 'invitations');
      expect(body.items.map(({ email, role }: { email: string; role: string }) => [email, role])).toEqual([
        ['New@example.org', 'member'],
        ['other@example.org', 'member'],
      ]);
      expect((await actions()).map(([action]) => action).sort()).toEqual([
        ...Array(3).fill('invitation-create'),
        'invitation-revoke',
      ]);
    });

    test('an owner who invites an address many times at once has one open invitation for it', async () => {
      const invite = () => send(owner, 'invitations', { email: 'new@example.org', role: 'member' });
      await Promise.all(Array.from({ length: 8 }, invite));
      expect((await send(owner, 'invitations')).body.items).toHaveLength(1);
    });

    test('changes a role, and removes a member whose connection reads nothing from the next request on', async () => {
      const { email, token } = member;
      const bootstrap = async () => {
        const headers = { authorization: `Bearer ${token}` };
        return (await hosting.api.fetch(`${hosting.api.url}/api/cli/bootstrap`, { headers })).status;
      };
      expect((await send(owner, 'members/role', { email, role: 'owner' })).body).toEqual({
        email,
        role: 'owner',
        changed: true,
      });
      expect((await send(owner, 'members/role', { email, role: 'owner' })).body.changed).toBe(false);
      expect(await rolesOf()).toEqual({ [owner.email]: 'owner', [email]: 'owner' });
      expect(await bootstrap()).toBe(200);
      expect((await send(owner, 'members/remove', { email })).body).toEqual({ email, removed: true });
      expect(await rolesOf()).toEqual({ [owner.email]: 'owner' });
      expect(await bootstrap()).not.toBe(200);
      expect((await send(member, 'bootstrap')).status).toBe(404);
      expect((await send(owner, 'members/remove', { email })).status).toBe(404);
      expect((await actions()).map(([action]) => action)).toEqual(['member-role', 'member-remove']);
    });

    test.each([
      ['is removed', 'members/remove', {}],
      ['loses the role', 'members/role', { role: 'member' }],
    ])('takes the links with them that they made, when they are an owner who %s', async (_what, path, more) => {
      const other = await personIn(org, 'owner');
      const link = async (who: Person) => {
        const { body } = await send(who, 'invitations', { email: 'back@example.org', role: 'owner' });
        return `${hosting.api.url}${body.path}`;
      };
      const [theirs, ours] = [await link(other), await link(owner)];
      expect((await send(owner, path, { email: other.email, ...more })).status).toBe(200);
      expect((await hosting.api.fetch(theirs)).status).toBe(404);
      expect((await hosting.api.fetch(ours)).status).toBe(200);
    });

    test('the last owner neither loses the role nor is removed', async () => {
      for (const [path, more] of [
        ['members/role', { role: 'member' }],
        ['members/remove', {}],
      ] as const) {
        const { status, body } = await send(owner, path, { email: owner.email, ...more });
        expect([status, body.code, body.error]).toEqual([
          400,
          'INVALID_INPUT',
          `${owner.email} is the last owner of ${org.slug}: add another owner first`,
        ]);
      }
      expect(await rolesOf()).toMatchObject({ [owner.email]: 'owner' });
    });

    test('remains when two owners remove each other at the same time', async () => {
      const other = await personIn(org, 'owner');
      const [first, second] = await Promise.all([
        send(owner, 'members/remove', { email: other.email }),
        send(other, 'members/remove', { email: owner.email }),
      ]);
      expect([first.status, second.status].sort()).toEqual([200, 404]);
      const rows = database.db.selectFrom('memberships').select('role').where('tenant_id', '=', org.tenantId);
      expect((await rows.where('role', '=', 'owner').execute()).length).toBe(1);
    });

    test('learns nothing of accounts outside the organisation', async () => {
      const answers = [];
      for (const email of [stranger.email, 'nobody@example.org']) {
        const { status, body } = await send(owner, 'members/remove', { email });
        answers.push([status, body.error.replace(email, 'X')]);
      }
      expect(answers).toEqual([
        [404, 'X is no member of the organisation'],
        [404, 'X is no member of the organisation'],
      ]);
    });

    test('an owner creates at most 100 open invitations', async () => {
      for (let n = 0; n < 100; n += 1) await send(owner, 'invitations', { email: `n${n}@example.org`, role: 'member' });
      const { status, body } = await send(owner, 'invitations', { email: 'more@example.org', role: 'member' });
      expect([status, body.error]).toEqual([400, `${org.slug} has 100 open invitations: revoke one first`]);
    });

    test.each([
      ['members/role', { email: 'a@example.org', role: 'king' }, /must be one of/],
      ['members/role', { email: 'a', role: 'owner' }, /must be an email address/],
      ['invitations', { email: 'a@example.org', role: 'owner', days: 31 }, /30/],
      ['invitations', { email: `${'a'.repeat(250)}@example.org`, role: 'owner' }, /email address/],
      ['members/remove', {}, /email/],
    ])('gets a clear error for %s with %j', async (path, body, words) => {
      const { status, body: answer } = await send(owner, path, body);
      expect([status, answer.error]).toEqual([400, expect.stringMatching(words)]);
    });
  });

  describe('nothing is changed', () => {
    const changes = () => [
      ['members/role', { email: member.email, role: 'owner' }] as const,
      ['members/remove', { email: owner.email }] as const,
      ['invitations', { email: 'new@example.org', role: 'owner' }] as const,
      ['invitations/inv_x/revoke', {}] as const,
    ];
    const nothingChanged = async () => {
      expect(await rolesOf()).toEqual({ [owner.email]: 'owner', [member.email]: 'member' });
      expect((await send(owner, 'invitations')).body.items).toEqual([]);
    };

    test('changes nothing for a member without the role, for an owner of another organisation, or in another organisation', async () => {
      for (const [path, body] of changes()) {
        for (const who of [member, stranger]) {
          const { status, body: answer } = await send(who, path, body);
          expect([path, status, answer.code]).toEqual([path, 404, 'NOT_FOUND']);
        }
      }
      await nothingChanged();
    });

    test('changes nothing without the form token of the session', async () => {
      for (const [path, body] of changes()) {
        const { status, body: answer } = await send({ ...owner, formToken: stranger.formToken }, path, body);
        expect([path, status, answer.code]).toEqual([path, 403, 'ORIGIN_NOT_ALLOWED']);
      }
      await nothingChanged();
    });

    test('changes nothing for an owner who loses the role while the request is in flight', async () => {
      const other = await personIn(org, 'owner');
      const [demoted, late] = await Promise.all([
        send(owner, 'members/role', { email: other.email, role: 'member' }),
        send(other, 'invitations', { email: 'new@example.org', role: 'owner' }),
      ]);
      expect(demoted.status).toBe(200);
      // Whichever locked the memberships first; an invitation after the change of role is refused.
      expect([200, 404]).toContain(late.status);
      expect((await send(other, 'invitations', { email: 'new@example.org', role: 'owner' })).status).toBe(404);
    });
  });
});
