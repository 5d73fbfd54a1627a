import { CheckFailed } from '../outcome.ts';
import { type Answer, type Fields, type Probe, postForm } from '../probe.ts';

/** Redirects that are followed at most. */
const MOST_REDIRECTS = 10;

/** A browser without scripts: it keeps cookies, follows redirects within the service, and fills in forms. */
export class Browser {
  readonly #probe: Probe;
  /** The address that the service calls itself; another one may lead to it. */
  readonly #origin: string;
  readonly #cookies = new Map<string, { value: string; path: string }>();
  #page = '';

  constructor(probe: Probe, origin: string) {
    this.#probe = probe;
    this.#origin = origin;
  }

  /** Returns whether the page has a form with the action. */
  shows(action: string): boolean {
    return this.#formOf(action) !== undefined;
  }

  /** @returns the address of another origin that the browser is redirected to, or null when a page is shown. */
  open(address: string): Promise<URL | null> {
    return this.#follow(address);
  }

  /** Sends the form of the page that has the action, with its hidden fields. @returns as `open`. */
  submit(action: string, fields: Fields): Promise<URL | null> {
    const form = this.#formOf(action);
    if (form === undefined) throw new CheckFailed(`the page has no form for ${action}`);
    return this.#follow(action, { ...hiddenFields(form), ...fields });
  }

  /** The value of the first choice of a form, where it has some. */
  choiceOf(action: string, name: string): string | undefined {
    const [, choice] = (this.#formOf(action) ?? '').split(`<input type="radio" name="${name}" value="`);
    return choice?.split('"')[0];
  }

  async #follow(address: string, form?: Fields): Promise<URL | null> {
    let target = new URL(address, this.#origin);
    let sent = form;
    for (let hop = 0; hop < MOST_REDIRECTS; hop += 1) {
      if (target.origin !== this.#origin) return target;
      const answer = await this.#request(target, sent);
      this.#keepCookies(answer);
      const location = answer.headers.get('location');
      if (location === null) {
        this.#page = answer.body;
        return null;
      }
      target = new URL(location, target);
      sent = undefined;
    }
    throw new CheckFailed(`more than ${MOST_REDIRECTS} redirects from ${address.split('?')[0]}`);
  }

  #request({ pathname, search }: URL, form: Fields | undefined): Promise<Answer> {
    const cookies = [...this.#cookies].filter(([, { path }]) => pathname.startsWith(path));
    const cookie = cookies.map(([name, { value }]) => `${name}=${value}`).join('; ');
    const credential = { name: 'browser', headers: { cookie }, shown: { cookie: '$COOKIE' } };
    if (form) return postForm(this.#probe, pathname, form, { credential, accept: 'text/html' });
    return this.#probe.send(pathname + search, { credential, headers: { accept: 'text/html' } });
  }

  #formOf(action: string): string | undefined {
    const [, ...forms] = this.#page.split('<form');
    const found = forms.find((form) => form.split('>')[0]?.includes(`action="${action}"`));
    return found?.split('</form>')[0];
  }

  #keepCookies({ headers }: Answer): void {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(/; */);
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? '/';
      const isOver = attributes.some((one) => /^max-age=0$|^expires=Thu, 01 Jan 1970/i.test(one));
      if (isOver || value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, { value, path });
    }
  }
}

/** The hidden fields of a form, in the notation of the service's pages. */
function hiddenFields(form: string): Fields {
  const [, ...inputs] = form.split('<input type="hidden" name="');
  const fields = inputs.map((input) => {
    const [, name = '', value = ''] = /^([^"]+)" value="([^"]*)">/.exec(input) ?? [];
    return [name, value.replaceAll('&amp;', '&')];
  });
  return Object.fromEntries(fields);
}
