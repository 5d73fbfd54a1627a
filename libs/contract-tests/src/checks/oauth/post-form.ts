import type { Credential } from '../../target/credentials.ts';
import { type Answer, NO_CREDENTIAL, type Probe } from '../probe.ts';

export type Fields = Readonly<Record<string, string>>;

/** Fields whose values a report must not show. */
const SECRET = ['client_secret', 'code', 'code_verifier', 'password', 'refresh_token', 'token'];

/** Sends a form. A printed command holds variables in place of secrets: `password=$PASSWORD`. */
export const postForm = (
  probe: Probe,
  address: string,
  fields: Fields,
  { credential = NO_CREDENTIAL, accept = 'application/json' }: { credential?: Credential; accept?: string } = {},
): Promise<Answer> =>
  probe.send(address, {
    credential,
    method: 'POST',
    headers: { accept, 'content-type': 'application/x-www-form-urlencoded' },
    body: `${new URLSearchParams(fields)}`,
    shownBody: Object.entries(fields)
      .map(([name, value]) => `${name}=${SECRET.includes(name) ? `$${name.toUpperCase()}` : encodeURIComponent(value)}`)
      .join('&'),
  });
