import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Length of the IPv6 network prefix that a provider assigns to one customer. */
const IPV6_PREFIX_GROUPS = 4;
const MAX_KEY = 64;

/**
 * Returns the rate limit key of an address: an IPv4 address (also IPv4-mapped IPv6) unchanged; an IPv6 address by its
 * /64 network. Text that is not an address, which a proxy may send, is truncated and used as the key.
 */
export function addressKey(address: string): string {
  // Most are; parsing one takes longer than the rest of the limit.
  if (isIPv4(address)) return address;
  const bare = address.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
  if (!ipaddr.isValid(bare)) return address.slice(0, MAX_KEY);
  const parsed = ipaddr.process(bare);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const prefix = parsed.parts.slice(0, IPV6_PREFIX_GROUPS).map((group) => group.toString(16));
  return `${prefix.join(':')}::/64`;
}
