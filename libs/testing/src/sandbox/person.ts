/** A response and the address that relative links of its page start from. */
export interface OpenedPage {
  url: string;
  status: number;
  text: string;
  /** Address that the response redirects to; null for others. The redirect is not followed. */
  location: string | null;
}

/** Opens a page as a browser does, without following redirects. */
export async function openPage(url: string, init: RequestInit = {}): Promise<OpenedPage> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  const location = response.headers.get('location');
  return { url, status: response.status, text: await response.text(), location };
}

/** Submits the form of a page with its hidden fields and the given ones. */
export async function submitForm(page: OpenedPage, fields: Record<string, string> = {}): Promise<OpenedPage> {
  const action = /<form method="post" action="([^"]*)">/.exec(page.text)?.[1];
  if (action === undefined) throw new Error(`${page.url} has no form: ${page.text}`);
  const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  const own = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, unescaped(value)]));
  const body = new URLSearchParams({ ...own, ...fields });
  return openPage(new URL(unescaped(action), page.url).href, { method: 'POST', body });
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
const unescaped = (text: string) =>
  text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? '');

/** Posts the form of a registration to the host, as the page of a program does. */
export const postRegistration = (form: { action: string; manifest: string }): Promise<OpenedPage> =>
  openPage(form.action, { method: 'POST', body: new URLSearchParams({ manifest: form.manifest }) });
