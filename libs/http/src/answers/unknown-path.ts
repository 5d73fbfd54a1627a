import { type AuthKind, isOfFamily, matchesPath, type Surface } from '@pipeline/contract';
import { AppError, type ErrorCode } from '@pipeline/domain';
import type { RequestScope } from '../request/request-scope.ts';

/** Maximum length of the raw URL in bytes. */
const MAX_URL = 8 * 1024;

/** @throws AppError for an invalid request line. */
export function requireLine(url: string): void {
  if (url.length > MAX_URL) throw new AppError('INVALID_INPUT', `URL longer than ${MAX_URL} bytes`);
}

/** Returns whether the path contains a percent sign without a valid escape sequence. */
export function isMalformed(path: string): boolean {
  if (!path.includes('%')) return false;
  try {
    decodeURIComponent(path);
    return false;
  } catch {
    return true;
  }
}

interface UnknownPaths {
  /** Returns whether a path belongs to the API, where unauthenticated callers cannot probe for unknown paths. */
  needsAuth(path: string): boolean;
  /** Response for an unknown path. `empty` = status without a body. */
  answerFor(scope: RequestScope): { error: AppError; empty: boolean };
}

export function unknownPaths(surface: Surface): UnknownPaths {
  const firstSegment = (path: string) => path.split('/', 2)[1] ?? '';
  const kinds: readonly AuthKind[] = surface.unknownPathAuth;
  const guarded = surface.routes.filter(({ auth }) => kinds.includes(auth));
  const roots = new Set(['api', ...guarded.map((route) => firstSegment(route.path))]);
  return {
    needsAuth: (path) => roots.has(firstSegment(path)),
    answerFor({ request: { method, path } }) {
      const wanted = method === 'HEAD' ? 'GET' : method;
      const known = surface.routes.some((route) => matchesPath(route.path, path));
      const family = surface.fallbacks.find(
        (one) => isOfFamily(one, path) && one.methods.some((method) => method.toUpperCase() === wanted),
      );
      const error = (code: ErrorCode, message: string) => ({ error: new AppError(code, message), empty: false });
      if (family && (!known || isMalformed(path)))
        return { ...error(family.refusal.code, family.refusal.message ?? ''), empty: family.emptyBody ?? false };
      if (isMalformed(path)) return error('INVALID_INPUT', 'Malformed percent-encoding in the path');
      return error('NOT_FOUND', 'No matching route');
    },
  };
}
