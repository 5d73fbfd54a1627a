import type { ServerResponse } from 'node:http';
import { DEVICE_GRANT, type oauthRoutes } from '@pipeline/contract';
import { displayText, sanitizeJson } from '@pipeline/domain';
import type { HandlersOf } from '@pipeline/http';
import { type PublicAddress, SCOPE } from '../../auth/public-address.ts';
import { canonicalParameters } from '../../oauth/authorize-query.ts';
import type { Oauth } from '../../oauth/oauth.ts';
import { ROUTES } from '../../oauth/provider.ts';
import { BadRegistration, cleanRegistration } from '../../oauth/registration.ts';

interface OauthRouteDeps {
  oauth: Oauth;
  address: PublicAddress;
}

const text = (body: Uint8Array) => new TextDecoder().decode(body);
/** Headers that permit programs in a browser to read the response. */
const OPEN = { 'access-control-allow-origin': '*' };

/** The OAuth endpoints: what comes is put in order here, the library answers. */
export function oauthHandlers({ oauth, address }: OauthRouteDeps): HandlersOf<typeof oauthRoutes> {
  const { origin, resource } = address;
  const protectedResource = {
    status: 200 as const,
    headers: OPEN,
    body: {
      resource,
      authorization_servers: [origin],
      scopes_supported: [SCOPE],
      bearer_methods_supported: ['header' as const],
      resource_name: 'Pipeline',
    },
  };
  return {
    getProtectedResource: () => protectedResource,
    getProtectedApi: () => protectedResource,
    getAuthorizationServer: () => ({ status: 200, headers: OPEN, body: serverMetadata(address) }),
    authorize: ({ request, address: client }) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', origin);
      const parameters = canonicalParameters(searchParams, address, true);
      const seen = oauth.request(request, { client, url: `${pathname}?${parameters}` });
      return { status: 200, stream: (response) => oauth.answer(seen, response) };
    },
    resumeAuthorization: ({ request, address: client }) => {
      const seen = oauth.request(request, { client });
      return { status: 200, stream: (response) => oauth.answer(seen, response) };
    },
    token: ({ request, address: client, body }) => {
      const parameters = canonicalParameters(new URLSearchParams(text(body)), address, false);
      if (parameters.get('grant_type') === 'client_credentials' && !asksForScope(parameters)) return badScope();
      const seen = oauth.request(request, { client, body: parameters.toString() });
      return { status: 200, stream: (response) => oauth.answer(seen, response) };
    },
    deviceAuthorization: ({ request, address: client, body }) => {
      const parameters = canonicalParameters(new URLSearchParams(text(body)), address, true);
      if (!asksForScope(parameters)) return badScope();
      const seen = oauth.request(request, { client, body: parameters.toString() });
      return { status: 200, stream: (response) => oauth.answer(seen, response) };
    },
    registerClient: ({ request, address: client, body, log }) => {
      try {
        const metadata = sanitizeJson(cleanRegistration(parse(text(body))));
        const seen = oauth.request(request, { client, body: JSON.stringify(metadata) });
        return { status: 200, stream: (response) => oauth.answer(seen, response) };
      } catch (problem) {
        if (!(problem instanceof BadRegistration)) throw problem;
        log.info('registration refused', { reason: displayText(problem.message, 500) });
        return refusal(problem.error, problem.message);
      }
    },
    revokeToken: ({ request, address: client, body }) => {
      const seen = oauth.request(request, { client, body: text(body) });
      return { status: 200, stream: (response) => oauth.answer(seen, response) };
    },
  };
}

/** An error as RFC 6749 has it. */
function refusal(error: string, description: string) {
  const body = JSON.stringify({ error, error_description: description });
  const headers = { 'content-type': 'application/json' };
  return { status: 400 as const, headers, stream: (response: ServerResponse) => void response.end(body) };
}

/** The library grants tokens without a scope where none of the requested ones is known, and those would read everything. */
const asksForScope = (parameters: URLSearchParams): boolean =>
  (parameters.get('scope') ?? '').split(' ').includes(SCOPE);
const badScope = () => refusal('invalid_scope', `the only supported scope is ${SCOPE}`);

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new BadRegistration('invalid_client_metadata', 'the body must be a JSON object');
  }
}

/**
 * RFC 8414. Ours, because the library's speaks of OpenID Connect, and of the host that a request named. It lists what a
 * program may register for; clients with a secret are created by an administrator and know how they authenticate.
 */
const serverMetadata = ({ origin, resource }: PublicAddress) => ({
  issuer: origin,
  authorization_endpoint: `${origin}${ROUTES.authorization}`,
  token_endpoint: `${origin}${ROUTES.token}`,
  registration_endpoint: `${origin}${ROUTES.registration}`,
  revocation_endpoint: `${origin}${ROUTES.revocation}`,
  device_authorization_endpoint: `${origin}${ROUTES.device_authorization}`,
  scopes_supported: [SCOPE, 'offline_access'],
  response_types_supported: ['code' as const],
  response_modes_supported: ['query' as const],
  grant_types_supported: ['authorization_code' as const, 'refresh_token' as const, DEVICE_GRANT],
  token_endpoint_auth_methods_supported: ['none' as const],
  revocation_endpoint_auth_methods_supported: ['none' as const],
  code_challenge_methods_supported: ['S256' as const],
  authorization_response_iss_parameter_supported: true as const,
  client_id_metadata_document_supported: true as const,
  protected_resources: [resource],
});
