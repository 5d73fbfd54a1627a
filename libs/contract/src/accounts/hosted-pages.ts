import { z } from 'zod';
import { rawBody, route } from '../wire/route.ts';

const html = { description: 'HTML page.', type: 'text/html', body: z.string() };
const elsewhere = { description: 'Redirect.', headers: { location: { description: 'Target.', schema: z.string() } } };

/** HTML pages: forms without scripts. They render their own error pages, also when the store is unavailable. */
const page = {
  auth: 'none',
  needsStore: false,
  tags: ['Pages'],
  undocumented: true,
  replies: { 200: html, 303: elsewhere, 400: html, 403: html, 404: html, 429: html, 500: html, 503: html },
} as const;

const form = {
  method: 'post',
  body: rawBody('application/x-www-form-urlencoded', 'Form fields.'),
  bodyLimit: 16 * 1024,
} as const;

const interaction = { params: z.object({ uid: z.string() }) };

const showHome = route({
  ...page,
  replies: { ...page.replies, 304: { description: 'The page has the ETag of If-None-Match.' } },
  id: 'showHome',
  method: 'get',
  path: '/',
  summary: 'Start page',
  description:
    'The pages of a logged-in user. Others, and programs, get links to the login and to the machine-readable documents.',
});

const showConsent = route({
  ...page,
  ...interaction,
  id: 'showConsent',
  method: 'get',
  path: '/oauth/interaction/{uid}',
  summary: 'Consent',
  description: 'Requests consent for a client to read on behalf of the logged-in user.',
});

const decideConsent = route({
  ...page,
  ...interaction,
  ...form,
  id: 'decideConsent',
  path: '/oauth/interaction/{uid}/confirm',
  summary: 'Allow or refuse',
  description: 'Records the decision and redirects the browser.',
});

const showLogin = route({
  ...page,
  id: 'showLogin',
  method: 'get',
  path: '/account/login',
  query: z.object({ return_to: z.string().max(500).optional().meta({ example: '/account/connections' }) }),
  summary: 'Login',
  description: 'Login form with email and password.',
});

const logIn = route({
  ...page,
  ...form,
  id: 'logIn',
  path: '/account/login',
  summary: 'Log in',
  description: 'Starts a browser session.',
});

const provider = { params: z.object({ provider: z.string() }) };

const startLogin = route({
  ...page,
  ...provider,
  id: 'startLogin',
  method: 'get',
  path: '/account/login/{provider}/start',
  query: z.object({ return_to: z.string().max(500).optional().meta({ example: '/account/connections' }) }),
  summary: 'Log in with a provider',
  description: 'Redirects to GitHub or the OpenID Connect provider.',
});

const finishLogin = route({
  ...page,
  ...provider,
  id: 'finishLogin',
  method: 'get',
  path: '/account/login/{provider}/callback',
  summary: 'Callback of a provider',
  description: 'Starts a browser session for the linked user, or links the account at the provider.',
});

const showLogins = route({
  ...page,
  id: 'showLogins',
  method: 'get',
  path: '/account/logins',
  query: z.object({ done: z.string().max(20).optional().meta({ example: 'connected' }) }),
  summary: 'Ways to log in',
  description: 'Lists the accounts at providers that log in as the logged-in user.',
});

const connectLogin = route({
  ...page,
  ...form,
  ...provider,
  id: 'connectLogin',
  path: '/account/logins/{provider}/connect',
  summary: 'Connect an account at a provider',
  description: 'Redirects to the provider; its callback links the account.',
});

const removeLogin = route({
  ...page,
  ...form,
  id: 'removeLogin',
  path: '/account/logins/remove',
  summary: 'Remove a way to log in',
  description: 'Removes the link to an account at a provider.',
});

const logOut = route({
  ...page,
  ...form,
  id: 'logOut',
  path: '/account/logout',
  summary: 'Log out',
  description: 'Ends the browser session.',
});

const showConnections = route({
  ...page,
  id: 'showConnections',
  method: 'get',
  path: '/account/connections',
  query: z.object({ ended: z.string().optional().meta({ example: '1' }) }),
  summary: 'Your connections',
  description: 'Lists the clients that read on behalf of the logged-in user.',
});

const showEndConnection = route({
  ...page,
  id: 'showEndConnection',
  method: 'get',
  path: '/account/connections/{id}/end',
  params: z.object({ id: z.string() }),
  summary: 'End a connection?',
  description: 'Confirmation form for ending a connection.',
});

const endConnection = route({
  ...page,
  ...form,
  id: 'endConnection',
  path: '/account/connections/{id}/revoke',
  params: z.object({ id: z.string() }),
  summary: 'End a connection',
  description: 'Ends a connection and revokes its tokens immediately.',
});

const showDevice = route({
  ...page,
  id: 'showDevice',
  method: 'get',
  path: '/account/device',
  summary: 'Connect a device',
  description: 'Form for the code that a program without a browser shows.',
});

const checkDevice = route({
  ...page,
  ...form,
  id: 'checkDevice',
  path: '/account/device',
  summary: 'Check a code',
  description: 'Requests consent for the program that shows the code.',
});

const decideDevice = route({
  ...page,
  ...form,
  id: 'decideDevice',
  path: '/account/device/confirm',
  summary: 'Allow or refuse a device',
  description: 'Records the decision; the program receives it with its next token request.',
});

const invitationToken = z
  .string()
  .max(100)
  .optional()
  .meta({ example: 'a'.repeat(43) });

const showInvitation = route({
  ...page,
  id: 'showInvitation',
  method: 'get',
  path: '/account/invitation',
  query: z.object({ token: invitationToken }),
  summary: 'Invitation',
  description: 'Shows which organisation a link invites to, and how to accept it.',
});

const acceptInvitation = route({
  ...page,
  ...form,
  id: 'acceptInvitation',
  path: '/account/invitation',
  summary: 'Accept an invitation',
  description: 'Makes the logged-in user, or a new one, a member of the organisation.',
});

export const pageRoutes = [
  showHome,
  showConsent,
  decideConsent,
  showLogin,
  logIn,
  startLogin,
  finishLogin,
  showLogins,
  connectLogin,
  removeLogin,
  logOut,
  showConnections,
  showEndConnection,
  endConnection,
  showDevice,
  checkDevice,
  decideDevice,
  showInvitation,
  acceptInvitation,
] as const;
