import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { authorizeUrl, CALLBACK, decide, logIn } from './oauth-world.ts';
import { world } from './world.ts';

describe('programs', () => {
  const { database } = world.hosting;
  const ID = 'https://tools.example.org/client.json';
  /** Reads as "Bank" and hides what turns the text around; longer than any name should be. */
  const TRICKY = `\u202eBank\u200b\u0000 of\u2028 Ann ${'x'.repeat(300)}`;
  const CLEAN = `Bank of Ann ${'x'.repeat(87)}…`;

  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** The document of a program, as its host would serve it. */
  const serveDocument = (document: Record<string, unknown>, id = ID) => {
    const plain = globalThis.fetch;
    jest
      .spyOn(globalThis, 'fetch')
      .mockImplementation(async (...args) =>
        String(args[0]) === id
          ? Response.json({ client_id: id, token_endpoint_auth_method: 'none', ...document })
          : plain(...args),
      );
  };

  /** Names are kept with the document, so each test has one of its own. */
  let documents = 0;
  const nextId = () => {
    documents += 1;
    return `https://tools.example.org/${documents}.json`;
  };

  const atConsent = async (clientId: string, redirect_uri: string) => {
    const browser = world.browser();
    await browser.open(authorizeUrl(world, clientId, { redirect_uri }));
    const login = browser.text;
    await logIn(browser, await world.person('acme'));
    return { browser, login };
  };

  describe('the name of a program is cleaned before it is shown or kept', () => {
    test('cleans a name that the program registered', async () => {
      const clientId = await world.program({ client_name: TRICKY });
      const { browser, login } = await atConsent(clientId, CALLBACK);
      for (const page of [login, browser.text]) expect(page).toContain(CLEAN);
      await decide(browser, 'allow');
      const row = await database.db
        .selectFrom('oauth_connections')
        .select('client_name')
        .where('client_id', '=', clientId)
        .executeTakeFirst();
      expect(row?.client_name).toBe(CLEAN);
    });

    test('cleans a name from a metadata document', async () => {
      const id = nextId();
      serveDocument({ client_name: TRICKY, redirect_uris: [CALLBACK] }, id);
      const { browser, login } = await atConsent(id, CALLBACK);
      for (const page of [login, browser.text]) {
        expect(page).toContain(CLEAN);
        expect(page).not.toMatch(/[\u202e\u200b\u2028]/);
      }
      await decide(browser, 'allow');
      const row = await database.db
        .selectFrom('oauth_connections')
        .select('client_name')
        .where('client_id', '=', id)
        .executeTakeFirst();
      expect(row?.client_name).toBe(CLEAN);
      await browser.open('/account/connections');
      expect(browser.text).toContain(CLEAN);
    });

    test('cleans a name that was stored before names were cleaned', async () => {
      const clientId = await world.program();
      await database.db
        .updateTable('oauth_clients')
        .set({
          metadata: JSON.stringify({
            client_id: clientId,
            client_name: TRICKY.replace('\u0000', ''),
            redirect_uris: [CALLBACK],
            application_type: 'native',
            token_endpoint_auth_method: 'none',
            response_types: ['code'],
            grant_types: ['authorization_code'],
          }) as never,
        })
        .where('id', '=', clientId)
        .execute();
      const { browser } = await atConsent(clientId, CALLBACK);
      expect(browser.text).toContain(CLEAN);
    });

    test('replaces a name of which nothing can be seen', async () => {
      const { browser } = await atConsent(await world.program({ client_name: '\u200b\u3164' }), CALLBACK);
      expect(browser.text).toContain('A program without a name');
    });
  });

  describe('a program that is described by a document', () => {
    const WARNING = 'Any program on your device can present itself as this one';

    test.each([CALLBACK, 'http://localhost:7777/cb', 'com.example.app:/cb'])(
      'comes with a warning when access goes to this device: %s',
      async (redirect) => {
        const id = nextId();
        serveDocument({ client_name: 'Tools', redirect_uris: [redirect], application_type: 'native' }, id);
        const { browser } = await atConsent(id, redirect);
        expect([browser.status, browser.text.includes('tools.example.org'), browser.text.includes(WARNING)]).toEqual([
          200,
          true,
          true,
        ]);
      },
    );

    test('comes without that warning when access goes to its own host', async () => {
      const id = nextId();
      serveDocument({ client_name: 'Tools', redirect_uris: ['https://tools.example.org/cb'] }, id);
      const { browser } = await atConsent(id, 'https://tools.example.org/cb');
      expect([browser.status, browser.text.includes(WARNING)]).toEqual([200, false]);
    });

    test('refuses a program when a redirect has a scheme without a dot', async () => {
      const id = nextId();
      serveDocument({ client_name: 'Tools', redirect_uris: ['cursor://cb'], application_type: 'native' }, id);
      const browser = world.browser();
      expect(await browser.open(authorizeUrl(world, id, { redirect_uri: 'cursor://cb' }))).toBeNull();
      expect(browser.status).toBe(400);
    });
  });

  test('a metadata document that claims client credentials gets no token for the people who connected the program', async () => {
    const id = nextId();
    const grants = ['authorization_code', 'refresh_token', 'client_credentials'];
    serveDocument({ client_name: 'Reader', redirect_uris: [CALLBACK], grant_types: grants }, id);
    const { browser } = await atConsent(id, CALLBACK);
    await decide(browser, 'allow');
    const answer = await world.token({ grant_type: 'client_credentials', client_id: id });
    expect([answer.status, answer.error, answer.access]).toEqual([401, 'invalid_client', '']);
  });
});
