import { launchOptions } from '@pipeline/testing/chromium';
import { openWatched } from '@pipeline/testing/watched-page';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import type { StackReport } from '../../src/start/report.ts';

/** Pages of a machine that is busy with other checks. */
const WITHIN_MS = 60_000;

/** Values to enter in a dialog before it is confirmed. */
interface Answers {
  reason?: string;
  /** Number that a grave action asks for. */
  typed?: number;
  choice?: string;
}

type Watched = Awaited<ReturnType<typeof openWatched<Page>>>;

/** A person at the dashboard, in a browser. */
export class Operator {
  readonly page: Page;
  readonly #browser: Browser;
  readonly #monitor: StackReport['monitor'];
  readonly #complaints: string[];

  private constructor(browser: Browser, { page, complaints }: Watched, monitor: StackReport['monitor']) {
    this.#browser = browser;
    this.page = page;
    this.#complaints = complaints;
    this.#monitor = monitor;
    page.setDefaultTimeout(WITHIN_MS);
  }

  /** Opens a browser and logs in. */
  static async begin(monitor: StackReport['monitor']): Promise<Operator> {
    const browser = await chromium.launch(launchOptions());
    const operator = new Operator(browser, await openWatched(await browser.newContext()), monitor);
    await operator.logIn();
    return operator;
  }

  /** Logs in: at first, and after a restart of the monitor, which ends all sessions. */
  async logIn(): Promise<void> {
    const { url, username, password } = this.#monitor;
    await this.page.goto(url);
    await this.page.getByLabel('Username').fill(username);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('button', { name: 'Log in' }).click();
    await this.isLive();
  }

  /** Opens a page of the dashboard, such as `/issues`. @param title of the page: the one before it stays until then. */
  async open(path: string, title: string): Promise<void> {
    await this.page.goto(`${this.#monitor.url}/#${path}`);
    await this.page.getByRole('heading', { level: 1, name: title }).waitFor();
    await this.isLive();
  }

  /** Takes what the browser has complained about since the last call; one without a session is answered by 401. */
  takeComplaints(): string[] {
    return this.#complaints.splice(0).filter((text) => !text.includes('401'));
  }

  isLive(): Promise<void> {
    return this.page.getByRole('button', { name: /^Live/ }).waitFor();
  }

  press(name: string): Promise<void> {
    return this.page.getByRole('button', { name, exact: true }).first().click();
  }

  /** Fills the open dialog and confirms it by its last button. */
  async confirm({ reason, typed, choice }: Answers = {}): Promise<void> {
    const dialog = this.page.getByRole('dialog').or(this.page.getByRole('alertdialog'));
    await dialog.waitFor();
    if (choice !== undefined) await dialog.getByLabel('New state').selectOption({ label: choice });
    if (reason !== undefined) await dialog.getByLabel(/^Reason/).fill(reason);
    if (typed !== undefined) await dialog.getByLabel(/^Type/).fill(String(typed));
    await dialog.locator('footer').getByRole('button').last().click();
  }

  /** Fills a field of the open dialog. */
  fill(label: string, value: string): Promise<void> {
    return this.page
      .getByRole('dialog')
      .getByLabel(new RegExp(`^${label}`))
      .fill(value);
  }

  /** Presses a switch by its name; its input is hidden behind what it draws. */
  flip(name: string): Promise<void> {
    return this.page.locator('label', { has: this.page.getByRole('switch', { name }) }).click();
  }

  /** Returns whether the list of actions shows this text at the action with this title. */
  async says(title: string, text: string): Promise<boolean> {
    return (await this.#entry(title).filter({ hasText: text }).count()) > 0;
  }

  /** Undoes the action with this title. */
  undo(title: string): Promise<void> {
    return this.#entry(title).getByRole('button', { name: 'Undo' }).click();
  }

  #entry(title: string): Locator {
    return this.page.getByRole('region', { name: 'Actions' }).locator('div').filter({ hasText: title });
  }

  /** A read of the API, with the login of the page. */
  api<T>(path: string): Promise<T> {
    return this.#request(path, 'GET');
  }

  /** Leaves the dashboard, so that nothing of it misses a monitor that restarts. */
  async leave(): Promise<void> {
    await this.page.goto('about:blank');
  }

  /** An action over the API, as another person does it. */
  act(path: string): Promise<unknown> {
    return this.#request(path, 'POST');
  }

  async #request<T>(path: string, method: string): Promise<T> {
    const { url, username, password } = this.#monitor;
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    const response = await fetch(url + path, { method, headers: { authorization } });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}
