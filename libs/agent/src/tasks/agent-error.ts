import { RequestError } from '@agentclientprotocol/sdk/unstable';
import { ERROR_CLASSES, type ErrorClass } from '@pipeline/domain';
import { AgentFailure } from '../agents/failures.ts';
import { type AgentPreset, reportedName } from '../agents/presets.ts';
import { missingKey } from '../agents/problems.ts';

const AUTH_REQUIRED = RequestError.authRequired().code;
/** Characters. */
const MOST_DETAILS = 2_000;
const QUOTA = /rate.?limit|quota|too many requests|overloaded|usage limit|insufficient credit|billing/i;

/** Returns the variables that the authentication methods of an agent name. */
export function keyVariables(authMethods: unknown): string[] {
  const methods = Array.isArray(authMethods) ? (authMethods as { vars?: unknown }[]) : [];
  return methods
    .flatMap(({ vars }) => (Array.isArray(vars) ? (vars as { name?: unknown }[]) : []))
    .flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
}

/**
 * Converts an error of an agent to a failure: a missing key is named with its variable, an exhausted quota is retried
 * later. An agent may set the class in `data.errorClass`. Other errors are returned unchanged.
 */
export function agentError(error: unknown, agent: AgentPreset, authMethods: unknown): unknown {
  if (!(error instanceof RequestError)) return error;
  if (error.code === AUTH_REQUIRED) return new AgentFailure('permanent', missingKey(agent, keyVariables(authMethods)));
  const text = `the agent ${reportedName(agent)} failed: ${error.message}${detailsOf(error)}`;
  return new AgentFailure(classOf(error) ?? (QUOTA.test(text) ? 'quota' : 'transient'), text);
}

/** Returns the details of the error, besides its message and its class. */
function detailsOf({ data }: RequestError): string {
  if (data === undefined || data === null) return '';
  if (typeof data !== 'object' || Array.isArray(data)) return ` ${JSON.stringify(data).slice(0, MOST_DETAILS)}`;
  const { errorClass: _, ...details } = data as Record<string, unknown>;
  return Object.keys(details).length === 0 ? '' : ` ${JSON.stringify(details).slice(0, MOST_DETAILS)}`;
}

function classOf({ data }: RequestError): ErrorClass | undefined {
  const { errorClass } = (data ?? {}) as { errorClass?: unknown };
  return ERROR_CLASSES.find((known) => known === errorClass);
}
