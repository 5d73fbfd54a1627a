import type { pageRoutes } from '@pipeline/contract';
import { RateLimited } from '@pipeline/http';
import { isUnavailable } from '@pipeline/store';
import { tryAgainIn, waitPage } from './error-page.ts';
import type { Page } from './layout.ts';
import { noticePage } from './notice-page.ts';

type PageStatus = Exclude<keyof (typeof pageRoutes)[number]['replies'], 303>;
type Headers = Readonly<Record<string, string>>;

export type PageAnswer =
  | { status: PageStatus; headers: Headers; body: string }
  | { status: 303; headers: Headers; body?: undefined };

/** The browser has the page already. */
export interface NotModified {
  status: 304;
  headers: Headers;
}

/** Pages hold names and form tokens of one person: no cache keeps them, and no other site learns of their addresses. */
export const show = (status: PageStatus, { html, policy }: Page, headers: Headers = {}): PageAnswer => ({
  status,
  headers: {
    'content-security-policy': policy,
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    ...headers,
  },
  body: html,
});

export const goTo = (location: string, headers: Headers = {}): PageAnswer => ({
  status: 303,
  headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'same-origin', ...headers },
});

/**
 * Makes handlers answer with a page, in place of an error for programs, when the store is gone or a limit is reached.
 */
export function asPages<H extends Readonly<Record<string, (input: never) => Promise<PageAnswer | NotModified>>>>(
  handlers: H,
  lost: () => void,
): H {
  const guarded = Object.entries(handlers).map(([id, handler]) => [
    id,
    (input: never) => handler(input).catch((error: unknown) => problemPage(error, lost)),
  ]);
  return Object.fromEntries(guarded) as H;
}

function problemPage(error: unknown, lost: () => void): PageAnswer {
  if (error instanceof RateLimited) {
    return show(429, waitPage(Number(error.headers['retry-after'])), error.headers);
  }
  if (!isUnavailable(error)) throw error;
  lost();
  const help = 'Nothing was changed. Try again in a minute.';
  return show(503, noticePage('Not available', 'The service cannot reach its database right now.', help));
}

/** Names the time after which to try again, as the end of a sentence. */
export const tryAgain = ({ headers }: RateLimited): string => tryAgainIn(Number(headers['retry-after']));

/** The answer to a form that was not made for this browser, or too long ago. */
export const strangeForm = (): PageAnswer =>
  show(
    403,
    noticePage(
      'Please start again',
      'This form does not belong to your current session.',
      'Open the page again. Your browser must accept cookies from this site.',
    ),
  );
