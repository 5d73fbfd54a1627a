/** Repositories that are renamed, transferred, archived and deleted, under the names and addresses that lead to them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ANNA, BOT, createSandboxEnvironment, type SandboxEnvironment, STRANGER } from '@pipeline/testing/sandbox';

let environment: SandboxEnvironment;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
});
afterAll(() => environment.end());

const OWNER = { login: 'acme', token: 'acme-token-1' };
let name: string;
let id: number;
let serial = 0;
beforeEach(async () => {
  serial += 1;
  name = `cart-${serial}`;
  environment.sandbox.addUser(OWNER);
  environment.sandbox.addUser({ login: 'globex', token: 'globex-token-1' });
  await environment.sandbox.addRepo({ slug: `acme/${name}`, collaborators: { [BOT.login]: 'write' } });
  id = ((await asOwner('GET', `/repos/acme/${name}`)).data as { id: number }).id;
});
const asOwner = (method: string, path: string, body?: unknown) => environment.api(method, path, body, OWNER.token);
const rename = (to: string) => asOwner('PATCH', `/repos/acme/${name}`, { name: to });
const raw = (path: string, init: RequestInit = {}, token = BOT.token) =>
  fetch(environment.sandbox.url + path, {
    redirect: 'manual',
    ...init,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });

describe('a renamed repository', () => {
  test('keeps its id and answers under its new name and by its id', async () => {
    expect(await rename(`${name}-new`)).toMatchObject({ status: 200, data: { id, full_name: `acme/${name}-new` } });
    expect((await asOwner('GET', `/repos/acme/${name}-new`)).data).toMatchObject({ id });
    expect((await asOwner('GET', `/repositories/${id}`)).data).toMatchObject({ full_name: `acme/${name}-new` });
    expect((await asOwner('POST', `/repositories/${id}/issues`, { title: 'By id' })).status).toBe(201);
  });

  test('answers reads under its old name with 301 and writes with 307 to the address by id', async () => {
    await rename(`${name}-new`);
    const read = await raw(`/repos/acme/${name}/issues?state=all`);
    expect(read.status).toBe(301);
    expect(read.headers.get('location')).toBe(`${environment.sandbox.url}/repositories/${id}/issues?state=all`);
    const write = await raw(`/repos/acme/${name}/issues`, { method: 'POST', body: '{"title":"x"}' });
    expect(write.status).toBe(307);
    expect(write.headers.get('location')).toBe(`${environment.sandbox.url}/repositories/${id}/issues`);
    expect((await asOwner('GET', `/repositories/${id}/issues`)).data).toHaveLength(0);
  });

  test('clones and pushes under the old name', async () => {
    await rename(`${name}-new`);
    const sha = await environment.push('topic', 'a.txt', 'a\n', { repo: `acme/${name}`, token: BOT.token });
    const branch = await asOwner('GET', `/repos/acme/${name}-new/branches/topic`);
    expect(branch.data).toMatchObject({ commit: { sha } });
  });

  test('leaves its old name to a new repository', async () => {
    await rename(`${name}-new`);
    await environment.sandbox.addRepo({ slug: `acme/${name}` });
    const taken = (await asOwner('GET', `/repos/acme/${name}`)).data as { id: number };
    expect(taken.id).not.toBe(id);
    expect((await asOwner('GET', `/repositories/${id}`)).data).toMatchObject({ full_name: `acme/${name}-new` });
  });

  test('refuses a new name that is taken, and a rename by an account that is no administrator', async () => {
    expect(await rename('shop')).toMatchObject({
      status: 422,
      data: { errors: [{ field: 'name', message: 'name already exists on this account' }] },
    });
    expect((await environment.api('PATCH', `/repos/acme/${name}`, { name: 'x' })).status).toBe(403);
  });

  test('hides the repository under its old name from accounts that may not see it', async () => {
    await environment.sandbox.addRepo({ slug: `acme/${name}`, private: true });
    await rename(`${name}-new`);
    expect((await raw(`/repos/acme/${name}`, {}, STRANGER.token)).status).toBe(404);
    expect((await raw(`/repositories/${id}`, {}, STRANGER.token)).status).toBe(404);
  });
});

describe('a transferred repository', () => {
  test('belongs to the new owner, who alone administers it', async () => {
    const moved = await asOwner('POST', `/repos/acme/${name}/transfer`, { new_owner: 'globex', new_name: 'basket' });
    expect(moved).toMatchObject({ status: 202, data: { id, full_name: 'globex/basket', owner: { login: 'globex' } } });
    expect((await raw(`/repos/acme/${name}`)).status).toBe(301);
    expect((await asOwner('PATCH', '/repos/globex/basket', { name: 'mine' })).status).toBe(403);
  });

  test('refuses a transfer to an account that does not exist, and by an account that is no administrator', async () => {
    const path = `/repos/acme/${name}/transfer`;
    expect((await asOwner('POST', path, { new_owner: 'nobody-at-all' })).status).toBe(422);
    expect((await environment.api('POST', path, { new_owner: 'globex' }, ANNA.token)).status).toBe(403);
  });
});

describe('an archived repository', () => {
  test('an archived repository is readable and not writable until it is unarchived', async () => {
    await asOwner('PATCH', `/repos/acme/${name}`, { archived: true });
    const refused = await asOwner('POST', `/repos/acme/${name}/issues`, { title: 'x' });
    expect(refused).toMatchObject({ status: 403, data: { message: 'Repository was archived so is read-only.' } });
    expect((await rename('other')).status).toBe(403);
    expect((await asOwner('GET', `/repos/acme/${name}`)).data).toMatchObject({ archived: true });
    await asOwner('PATCH', `/repos/acme/${name}`, { archived: false });
    expect((await asOwner('POST', `/repos/acme/${name}/issues`, { title: 'x' })).status).toBe(201);
  });
});
