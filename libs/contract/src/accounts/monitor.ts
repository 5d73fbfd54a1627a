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
  summary: 'Log in',
  description:
    'Sets the session cookie SVC_SESSION, valid for 12 hours. Without configured authentication, returns 200 and sets no cookie.',
  body: z.object({
    username: z.string().max(500).meta({ example: 'admin' }),
    password: z.string().max(1_000).meta({ example: 'correct horse battery staple' }),
  }),
  replies: {
    200: {
      description: 'Logged in.',
      body: Ok,
      headers: setCookie('Session cookie. Absent when authentication is off.'),
    },
  },
  errors: ['AUTH_FAILED'],
});

export const logout = route({
  ...open,
  id: 'logout',
  method: 'post',
  path: '/api/auth/logout',
  summary: 'Log out',
  description: 'Clears the session cookie. Returns 200 also without a session.',
  replies: {
    200: { description: 'Logged out.', body: Ok, headers: setCookie('Clears the session cookie (Max-Age 0).') },
  },
});

const getSession = route({
  ...open,
  id: 'getSession',
  method: 'get',
  path: '/api/auth/session',
  summary: 'Get the session status',
  description: 'Returns whether the caller is authenticated. Always true when no authentication is configured.',
  replies: {
    200: {
      description: 'Session status.',
      body: z.object({ authenticated: z.boolean() }),
      headers: {
        'x-stream-position': {
          description:
            'Id of the newest event of the stream, for authenticated callers while the stream runs. What is read afterwards contains everything up to it: a stream opened with it as `Last-Event-ID` misses nothing.',
          schema: z.string().optional(),
        },
      },
    },
  },
});

export const authRoutes = [login, logout, getSession] as const;
