import { z } from 'zod';
import { rawBody, route } from '../route.ts';

const html = { description: 'A page.', type: 'text/html', body: z.string() };
const elsewhere = { description: 'Go there.', headers: { location: { description: 'Where to.', schema: z.string() } } };

/** Pages for people: forms without scripts. They say themselves what is wrong, the store included. */
const page = {
  auth: 'none',
  needsStore: false,
  tags: ['Pages'],
  undocumented: true,
  replies: { 200: html, 303: elsewhere, 400: html, 403: html, 404: html, 429: html, 500: html, 503: html },
} as const;

const form = {
  method: 'post',
  body: rawBody('application/x-www-form-urlencoded', 'The fields of the form.'),
  bodyLimit: 16 * 1024,
} as const;

const interaction = { params: z.object({ uid: z.string() }) };

const showHome = route({
  ...page,
  id: 'showHome',
  method: 'get',
  path: '/',
  summary: 'Start page',
  description: 'Links to the pages and to the descriptions for programs.',
});

const showConsent = route({
  ...page,
  ...interaction,
  id: 'showConsent',
  method: 'get',
  path: '/oauth/interaction/{uid}',
  summary: 'Consent',
  description: 'Asks whether a program may read in the name of whoever is logged in.',
});

const decideConsent = route({
  ...page,
  ...interaction,
  ...form,
  id: 'decideConsent',
  path: '/oauth/interaction/{uid}/confirm',
  summary: 'Allow or refuse',
  description: 'Takes the answer and sends the browser on.',
});

const showLogin = route({
  ...page,
  id: 'showLogin',
  method: 'get',
  path: '/account/login',
  query: z.object({ return_to: z.string().max(500).optional().meta({ example: '/account/connections' }) }),
  summary: 'Login',
  description: 'Asks for email and password.',
});

const logIn = route({
  ...page,
  ...form,
  id: 'logIn',
  path: '/account/login',
  summary: 'Log in',
  description: 'Begins a session.',
});

const logOut = route({
  ...page,
  ...form,
  id: 'logOut',
  path: '/account/logout',
  summary: 'Log out',
  description: 'Ends the session.',
});

const showConnections = route({
  ...page,
  id: 'showConnections',
  method: 'get',
  path: '/account/connections',
  query: z.object({ ended: z.string().optional().meta({ example: '1' }) }),
  summary: 'Your connections',
  description: 'Lists the programs that read in the name of whoever is logged in.',
});

const showEndConnection = route({
  ...page,
  id: 'showEndConnection',
  method: 'get',
  path: '/account/connections/{id}/end',
  params: z.object({ id: z.string() }),
  summary: 'End a connection?',
  description: 'Asks once before a connection is ended.',
});

const endConnection = route({
  ...page,
  ...form,
  id: 'endConnection',
  path: '/account/connections/{id}/revoke',
  params: z.object({ id: z.string() }),
  summary: 'End a connection',
  description: 'At once, with all its tokens.',
});

export const pageRoutes = [
  showHome,
  showConsent,
  decideConsent,
  showLogin,
  logIn,
  logOut,
  showConnections,
  showEndConnection,
  endConnection,
] as const;
