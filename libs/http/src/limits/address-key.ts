import ipaddr from 'ipaddr.js';

/** Bits of an IPv6 address that its provider assigns; one customer has all addresses below them. */
const IPV6_PREFIX_GROUPS = 4;
const MAX_KEY = 64;

/**
 * The key under which every limit counts an address: an IPv4 address, also one mapped into IPv6, as a whole; an IPv6
 * address by its /64. What is no address (a proxy may send anything) is its own text, cut.
 */
export function addressKey(address: string): string {
  const bare = address.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
  if (!ipaddr.isValid(bare)) return address.slice(0, MAX_KEY);
  const parsed = ipaddr.process(bare);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const prefix = parsed.parts.slice(0, IPV6_PREFIX_GROUPS).map((group) => group.toString(16));
  return `${prefix.join(':')}::/64`;
}
