import { z } from 'zod';
import { rawBody, route } from '../wire/route.ts';

const metadata = { method: 'get', auth: 'none', needsStore: false, tags: ['Connections'] } as const;

const ProtectedResource = z
  .object({
    resource: z
      .url()
      .meta({ description: 'Resource identifier (audience) of access tokens.', example: 'https://host/api' }),
    authorization_servers: z.array(z.url()),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.literal('header')),
    resource_name: z.string(),
  })
  .meta({ id: 'ProtectedResource' });

/** Grant type of programs without a browser (RFC 8628). */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code' as const;

const AuthorizationServer = z
  .object({
    issuer: z.url(),
    authorization_endpoint: z.url(),
    token_endpoint: z.url(),
    registration_endpoint: z.url(),
    revocation_endpoint: z.url(),
    device_authorization_endpoint: z.url(),
    scopes_supported: z.array(z.string()),
    response_types_supported: z.array(z.literal('code')),
    response_modes_supported: z.array(z.literal('query')),
    grant_types_supported: z.array(z.enum(['authorization_code', 'refresh_token', DEVICE_GRANT])),
    token_endpoint_auth_methods_supported: z.array(z.literal('none')),
    revocation_endpoint_auth_methods_supported: z.array(z.literal('none')),
    code_challenge_methods_supported: z.array(z.literal('S256')),
    authorization_response_iss_parameter_supported: z.literal(true),
    client_id_metadata_document_supported: z.literal(true),
    protected_resources: z.array(z.url()),
  })
  .meta({ id: 'AuthorizationServer' });

const resource = {
  ...metadata,
  summary: 'Get the protected resource metadata',
  description:
    'RFC 9728 metadata: the resource identifier, its authorization server and scopes. Clients use it to find out how to obtain an access token.',
  replies: { 200: { description: 'The metadata document.', body: ProtectedResource } },
} as const;

const getProtectedResource = route({
  ...resource,
  id: 'getProtectedResource',
  path: '/.well-known/oauth-protected-resource',
});

const getProtectedApi = route({
  ...resource,
  id: 'getProtectedApi',
  path: '/.well-known/oauth-protected-resource/api',
});

const getAuthorizationServer = route({
  ...metadata,
  id: 'getAuthorizationServer',
  path: '/.well-known/oauth-authorization-server',
  summary: 'Get the authorization server metadata',
  description:
    'RFC 8414 metadata: endpoints and capabilities of the OAuth 2.1 server. The OAuth endpoints return OAuth errors, not the ApiError of this API.',
  replies: { 200: { description: 'The metadata document.', body: AuthorizationServer } },
});

const answers = [200, 201, 204, 302, 303, 400, 401, 403, 404, 413, 500] as const;
/** Responses of the OAuth library, in the form defined by the RFCs. */
const speaksOauth = {
  auth: 'none',
  tags: ['Connections'],
  undocumented: true,
  replies: Object.fromEntries(
    answers.map((status) => [status, { description: 'OAuth', type: '*/*', streamed: true }]),
  ) as Record<(typeof answers)[number], { description: string; type: '*/*'; streamed: true }>,
} as const;

/** Routes that browsers open: an error that the OAuth library does not answer itself is a page for a browser. */
const opened = {
  ...speaksOauth,
  replies: { ...speaksOauth.replies, 429: { description: 'HTML page.', type: 'text/html', body: z.string() } },
} as const;

const form = rawBody('application/x-www-form-urlencoded', 'Request parameters.');

const authorize = route({
  ...opened,
  id: 'authorize',
  method: 'get',
  path: '/oauth/authorize',
  summary: 'Request authorization',
  description: 'OAuth 2.1 authorization request: authorization code with PKCE (S256).',
});

const resumeAuthorization = route({
  ...opened,
  id: 'resumeAuthorization',
  method: 'get',
  path: '/oauth/authorize/{uid}',
  params: z.object({ uid: z.string() }),
  summary: 'Resume after consent',
  description: 'Redirects the browser to the client.',
});

const token = route({
  ...speaksOauth,
  id: 'token',
  crossOrigin: true,
  method: 'post',
  path: '/oauth/token',
  body: form,
  bodyLimit: 16 * 1024,
  summary: 'Get tokens',
  description: 'Exchanges an authorization code or a refresh token.',
});

const registerClient = route({
  ...speaksOauth,
  id: 'registerClient',
  crossOrigin: true,
  method: 'post',
  path: '/oauth/register',
  body: rawBody('application/json', 'RFC 7591 client metadata.'),
  bodyLimit: 16 * 1024,
  summary: 'Register a client',
  description: 'Dynamic client registration (RFC 7591).',
});

const revokeToken = route({
  ...speaksOauth,
  id: 'revokeToken',
  crossOrigin: true,
  method: 'post',
  path: '/oauth/revoke',
  body: form,
  bodyLimit: 16 * 1024,
  summary: 'End a connection',
  description: 'Token revocation (RFC 7009). Revoking either token ends the connection.',
});

const deviceAuthorization = route({
  ...speaksOauth,
  id: 'deviceAuthorization',
  crossOrigin: true,
  method: 'post',
  path: '/oauth/device',
  body: form,
  bodyLimit: 16 * 1024,
  summary: 'Request a device code',
  description: 'Device authorization (RFC 8628) for programs without a browser.',
});

export const oauthRoutes = [
  getProtectedResource,
  getProtectedApi,
  getAuthorizationServer,
  authorize,
  resumeAuthorization,
  token,
  registerClient,
  revokeToken,
  deviceAuthorization,
] as const;
