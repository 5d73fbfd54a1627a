import { expect, test } from '@jest/globals';
import { errors } from 'oidc-provider';
import { authorizationProblemPage } from './problem-page.ts';

const { InvalidClient, InvalidClientMetadata, InvalidRedirectUri, InvalidRequest, InvalidScope, InvalidTarget } =
  errors;
const { AccessDenied, SessionNotFound, TemporarilyUnavailable, UnsupportedResponseMode, UnsupportedResponseType } =
  errors;

/** The errors that the library's authorization endpoint throws with the features that are on. */
const THROWN = [
  ...[InvalidClient, InvalidClientMetadata, InvalidRedirectUri, InvalidRequest, InvalidScope, InvalidTarget],
  ...[AccessDenied, SessionNotFound, TemporarilyUnavailable, UnsupportedResponseMode, UnsupportedResponseType],
] as unknown as (new (
  message: string,
) => { error: string })[];

const pageOf = (error: string) =>
  authorizationProblemPage({ error, description: undefined, program: null, redirect: null }).html;

/** The page for a code that has no sentence. */
const OTHERWISE = 'The request of the program cannot be processed.';

test.each(THROWN.map((Thrown) => new Thrown('message').error))('%s of the OAuth library has a sentence', (error) => {
  expect(error).toMatch(/^[a-z_]+$/);
  expect(pageOf(error)).not.toContain(OTHERWISE);
});

test('an error without a sentence is explained in general terms', () => {
  expect(pageOf('invalid_nonce')).toContain(OTHERWISE);
});
