import { z } from 'zod';
import { Ok } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

const open = { auth: 'none', needsStore: false, tags: ['Session'] } as const;
const setCookie = (description: string) => ({ 'Set-Cookie': { description, schema: z.string().optional() } });

export const login = route({
  ...open,
  id: 'login',
  method: 'post',
  path: '/api/auth/login',
  summary: 'Begin a session',
  description: 'Sets the cookie SVC_SESSION for 12 hours. Where no authentication is configured, no cookie is set.',
  body: z.object({
    username: z.string().max(500).meta({ example: 'admin' }),
    password: z.string().max(1_000).meta({ example: 'correct horse battery staple' }),
  }),
  replies: {
    200: { description: 'Logged in.', body: Ok, headers: setCookie('The session, if authentication is on.') },
  },
  errors: ['AUTH_FAILED'],
});

export const logout = route({
  ...open,
  id: 'logout',
  method: 'post',
  path: '/api/auth/logout',
  summary: 'End the session',
  description: 'Clears the cookie. It is no error to have none.',
  replies: { 200: { description: 'Logged out.', body: Ok, headers: setCookie('The cookie, cleared by Max-Age 0.') } },
});

export const getSession = route({
  ...open,
  id: 'getSession',
  method: 'get',
  path: '/api/auth/session',
  summary: 'Is the caller logged in',
  description: 'True also where no authentication is configured.',
  replies: { 200: { description: 'The answer.', body: z.object({ authenticated: z.boolean() }) } },
});

export const authRoutes = [login, logout, getSession] as const;
