import { type PublicAddress, SCOPE } from '../auth/public-address.ts';

/** Addresses that mean the API: itself, with a slash behind it, and its MCP endpoint. */
export function canonicalResource(value: string, { resource }: PublicAddress): string {
  return [`${resource}/`, `${resource}/mcp`, `${resource}/mcp/`].includes(value) ? resource : value;
}

/**
 * The parameters of an authorization or token request with its resources in one spelling. A request that may name a
 * scope and names none gets the only one there is: the library would go through login and consent, and then grant nothing.
 */
export function canonicalParameters(
  parameters: URLSearchParams,
  address: PublicAddress,
  isAuthorization: boolean,
): URLSearchParams {
  const entries = [...parameters].map(([name, value]): [string, string] => [
    name,
    name === 'resource' ? canonicalResource(value, address) : value,
  ]);
  const rewritten = new URLSearchParams(entries);
  const mayNameScope = isAuthorization || rewritten.get('grant_type') === 'client_credentials';
  if (mayNameScope && !rewritten.get('scope')) rewritten.set('scope', SCOPE);
  return rewritten;
}
