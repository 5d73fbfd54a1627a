import { z } from 'zod';
import type { Permission, Permissions } from '../state/app-records.ts';
import { PERMISSIONS } from './grants.ts';

const web = z.url({ protocol: /^https?$/ });

/** The manifest of an app: the part of GitHub's format that the host uses. */
const Manifest = z.object({
  name: z.string().trim().max(34).optional(),
  url: web,
  hook_attributes: z.object({ url: web, active: z.boolean().default(true) }).optional(),
  redirect_url: web,
  public: z.boolean().default(false),
  default_permissions: z.partialRecord(z.enum(PERMISSIONS), z.enum(['read', 'write'])).default({}),
  default_events: z.array(z.string()).default([]),
});
export type Manifest = z.output<typeof Manifest>;

/** Events and the permissions of which one is needed to subscribe to them. */
const EVENTS: Readonly<Record<string, readonly Permission[]>> = {
  check_run: ['checks'],
  check_suite: ['checks'],
  issue_comment: ['issues', 'pull_requests'],
  issues: ['issues'],
  pull_request: ['pull_requests'],
  pull_request_review: ['pull_requests'],
  push: ['contents'],
  repository: ['metadata'],
  status: ['statuses'],
};

/** Reads a manifest as the host does. `problems` are in the words of the host; the manifest is null when there are any. */
export function readManifest(text: string): { manifest: Manifest | null; problems: string[] } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { manifest: null, problems: ['The manifest is not valid JSON.'] };
  }
  const { data, error } = Manifest.safeParse(json);
  const problems = data ? eventProblems(data) : (error?.issues ?? []).map(problemOf);
  return { manifest: data && problems.length === 0 ? data : null, problems };
}

/** GitHub names the last part of a missing field only. */
function problemOf({ path, message, code }: z.core.$ZodIssue): string {
  const missing = code === 'invalid_type' && message.includes('undefined');
  return missing ? `"${String(path.at(-1))}" wasn't supplied.` : `${path.join('.')}: ${message}`;
}

function eventProblems({ default_events: events, default_permissions: held, hook_attributes: hook }: Manifest) {
  const problems: string[] = [];
  const unknown = events.filter((event) => !Object.hasOwn(EVENTS, event));
  if (unknown.length > 0) problems.push(`Default events unsupported: ${unknown.join(', ')}`);
  const permissions: Permissions = held;
  const denied = events.filter((event) => !EVENTS[event]?.some((permission) => permissions[permission] !== undefined));
  if (denied.length > 0) problems.push(`Default events are not supported by permissions: ${denied.join(', ')}`);
  if (events.length > 0 && !hook) problems.push('Hook url cannot be blank');
  return problems;
}
