/** A browser without scripts: it keeps cookies by path, follows redirects, and fills in forms. */
export class Browser {
  readonly #origin: string;
  readonly #fetch: typeof fetch;
  readonly #cookies = new Map<string, { value: string; path: string }>();
  /** Address of the current page. */
  url = '';
  status = 0;
  text = '';
  headers = new Headers();
  /** A redirect to a path that begins so is not followed; null = all are. */
  stopBefore: string | null = null;
  /** Sent with every form, as browsers do by themselves. */
  send: Readonly<Record<string, string>> = {};

  constructor(origin: string, fetching: typeof fetch) {
    this.#origin = origin;
    this.#fetch = fetching;
  }

  /** Follows redirects as long as they stay here. @returns the address that it was sent to elsewhere, or null. */
  async open(url: string, init: RequestInit = {}): Promise<URL | null> {
    let target = new URL(url, this.url || this.#origin);
    let request = init;
    for (let hop = 0; hop < 10; hop += 1) {
      if (target.origin !== this.#origin) return target;
      const cookie = this.#cookiesFor(target.pathname);
      const headers = { accept: 'text/html', ...(cookie && { cookie }), ...request.headers };
      const answer = await this.#fetch(target, { ...request, headers, redirect: 'manual' });
      this.#keep(answer);
      this.url = target.href;
      this.status = answer.status;
      this.headers = answer.headers;
      this.text = await answer.text();
      const location = answer.headers.get('location');
      if (answer.status < 300 || answer.status >= 400 || location === null) return null;
      target = new URL(location, target);
      if (this.stopBefore !== null && target.pathname.startsWith(this.stopBefore)) return target;
      request = {};
    }
    throw new Error('too many redirects');
  }

  /** Sends a form of the page, by its action; hidden fields come along. */
  submit(action: string, fields: Record<string, string>): Promise<URL | null> {
    const form = new RegExp(`<form[^>]*action="${action}"[^>]*>(.*?)</form>`, 's').exec(this.text)?.[1];
    if (form === undefined) throw new Error(`no form for ${action} on ${this.url}: ${this.text}`);
    const hidden = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
    const body = new URLSearchParams([...hidden.map(([, name = '', value = '']): [string, string] => [name, value])]);
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...this.send };
    return this.open(action, { method: 'POST', headers, body: body.toString() });
  }

  /** Another tab: the same page and cookies. */
  tab(): Browser {
    const tab = new Browser(this.#origin, this.#fetch);
    for (const [name, cookie] of this.#cookies) tab.#cookies.set(name, cookie);
    return Object.assign(tab, { url: this.url, text: this.text, send: this.send });
  }

  cookie(name: string): string | undefined {
    return this.#cookies.get(name)?.value;
  }

  setCookie(name: string, value: string): void {
    this.#cookies.set(name, { value, path: '/' });
  }

  #cookiesFor(path: string): string {
    const sent = [...this.#cookies].filter(([, cookie]) => path.startsWith(cookie.path));
    return sent.map(([name, { value }]) => `${name}=${value}`).join('; ');
  }

  #keep(answer: Response): void {
    for (const line of answer.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(/; */);
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? '/';
      const over = attributes.some((one) => /^max-age=0$|^expires=Thu, 01 Jan 1970/i.test(one));
      if (over || value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, { value, path });
    }
  }
}
