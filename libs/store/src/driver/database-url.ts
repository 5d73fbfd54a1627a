import { z } from 'zod';

/** Why the text is no connection URL of one server; null = it is one. */
function problemOf(text: string): string | null {
  const hosts = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(text)?.[1];
  if (hosts === undefined) return 'must be a postgres:// URL';
  if (hosts.includes(','))
    return 'must name one server: after a failover, a DNS name or a proxy must lead to the new primary';
  return URL.canParse(text) ? null : 'must be a postgres:// URL';
}

/** A connection URL of PostgreSQL. */
export const DatabaseUrl = z.string().superRefine((text, context) => {
  const message = problemOf(text);
  if (message !== null) context.addIssue({ code: 'custom', message });
});
