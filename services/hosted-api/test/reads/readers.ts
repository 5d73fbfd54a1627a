import { expect } from '@jest/globals';
import { type Answer, answerOf, type Hosted } from '../support/hosted.ts';

/** GET with an access token; the answer is held to the contract. */
export async function read(
  hosted: Hosted,
  path: string,
  token: string | undefined,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const authorization = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  return answerOf(await hosted.fetch(`${hosted.url}${path}`, { headers: { ...headers, ...authorization } }));
}

/** The body of a 200. */
export async function readOk(hosted: Hosted, path: string, token: string) {
  const { status, body } = await read(hosted, path, token);
  expect([status, body]).toEqual([200, body]);
  return body;
}
