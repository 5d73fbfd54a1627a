import { checkAnswer } from './check.ts';
import { errorsOf } from './declared-errors.ts';
import { matchRoute } from './match.ts';
import type { Surface } from './surface.ts';

interface CheckedFetch {
  /** `fetch` that checks every response against the declarations. @throws Error listing the violations. */
  fetch: typeof fetch;
  /** Returns declared responses (`id status` or `id status CODE`) that no call has produced yet; common errors excluded. */
  unproduced(): string[];
}

/** Creates a fetch for tests that throws on undeclared responses and records the declared ones. */
export function checkedFetch(surface: Surface, inner: typeof fetch = fetch): CheckedFetch {
  const produced = new Set<string>();
  return {
    async fetch(input, init) {
      const request = new Request(input, init);
      const response = await inner(request);
      const { pathname } = new URL(request.url);
      const streamed = response.headers.get('content-type')?.startsWith('text/event-stream');
      const body = streamed ? '' : await response.clone().text();
      const seen = { method: request.method, path: pathname, status: response.status, headers: response.headers, body };
      const violations = checkAnswer(surface, seen);
      if (violations.length > 0) throw new Error(`undeclared answer\n${violations.join('\n')}`);
      const route = matchRoute(surface.routes, request.method, pathname);
      if (route) produced.add(label(route.id, response.status, response.status in route.replies ? '' : codeOf(body)));
      return response;
    },
    unproduced: () => declaredAnswers(surface).filter((answer) => !produced.has(answer)),
  };
}

function declaredAnswers(surface: Surface): string[] {
  return surface.routes.flatMap((route) => [
    ...Object.keys(route.replies).map((status) => label(route.id, Number(status), '')),
    ...errorsOf(surface, route)
      .filter((error) => !error.common)
      .map((error) => label(route.id, error.status, error.code)),
  ]);
}

const label = (id: string, status: number, code: string) => [id, status, code].join(' ').trim();

function codeOf(body: string): string {
  const { code } = JSON.parse(body || '{}') as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
