/** Base URLs of a host. */
export interface HostUrls {
  /** Pages, such as `https://github.com`. */
  web: string;
  /** REST API, such as `https://api.github.com`. */
  api: string;
}

/**
 * Returns the URLs of github.com, of a subdomain of ghe.com, or of a GitHub Enterprise Server.
 * @param host URL of its pages, without a path.
 */
export function hostUrls(host: string): HostUrls {
  const { protocol, hostname, origin } = new URL(host);
  const isCloud = hostname === 'github.com' || hostname.endsWith('.ghe.com');
  return { web: origin, api: isCloud ? `${protocol}//api.${hostname}` : `${origin}/api/v3` };
}
