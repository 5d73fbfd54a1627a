import type { Browser, CDPSession } from 'playwright-core';

/** A machine four times slower than this one. */
const SLOW_CPU = 4;

interface Response {
  id?: number;
  result?: Record<string, unknown>;
  error?: { message: string };
}

interface Evaluated {
  result: { value: unknown };
  exceptionDetails?: { text: string };
}

/**
 * A page on a slow machine, in a browser context without Playwright. Playwright enables the domain Runtime of the debugger:
 * V8 then computes the source positions of the first stack, that of an `Error` of React, and parses the whole script again for
 * it, a third of the time until the first view. Its locators search the page at each frame. No reader has either.
 */
export class SlowPage {
  private lastId = 0;
  private readonly waiting = new Map<number, (response: Response) => void>();

  private readonly session: CDPSession;
  private readonly sessionId: string;
  private readonly browserContextId: string;

  private constructor(session: CDPSession, sessionId: string, browserContextId: string) {
    this.session = session;
    this.sessionId = sessionId;
    this.browserContextId = browserContextId;
    session.on('Target.receivedMessageFromTarget', (event) => {
      if (event.sessionId !== sessionId) return;
      const response = JSON.parse(event.message) as Response;
      if (response.id === undefined) return;
      this.waiting.get(response.id)?.(response);
      this.waiting.delete(response.id);
    });
  }

  static async open(browser: Browser): Promise<SlowPage> {
    const session = await browser.newBrowserCDPSession();
    const { browserContextId } = await session.send('Target.createBrowserContext');
    const { targetId } = await session.send('Target.createTarget', { url: 'about:blank', browserContextId });
    const { sessionId } = await session.send('Target.attachToTarget', { targetId });
    const page = new SlowPage(session, sessionId, browserContextId);
    await page.send('Emulation.setFocusEmulationEnabled', { enabled: true });
    await page.send('Emulation.setCPUThrottlingRate', { rate: SLOW_CPU });
    return page;
  }

  async goto(url: string): Promise<void> {
    await this.send('Page.navigate', { url });
    await this.waitFor('location.protocol === "http:" && document.readyState === "complete"');
  }

  /** @returns the value of an expression, or of its promise. */
  async evaluate<Value>(expression: string): Promise<Value> {
    const { result, exceptionDetails } = (await this.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })) as unknown as Evaluated;
    if (exceptionDetails) throw new Error(`${expression.slice(0, 80)}: ${exceptionDetails.text}`);
    return result.value as Value;
  }

  /** Waits until an expression is true. */
  async waitFor(expression: string): Promise<void> {
    await this.evaluate(`new Promise((done) => {
      const timer = setInterval(() => { if (${expression}) { clearInterval(timer); done(); } }, 50);
    })`);
  }

  /** Presses a key that has a text, Enter among them, or a chord with Control. */
  async press(key: string, { control = false } = {}): Promise<void> {
    const text = key === 'Enter' ? '\r' : key;
    const code = key === 'Enter' ? { code: key, windowsVirtualKeyCode: 13 } : {};
    const event = { key, modifiers: control ? 2 : 0, ...code };
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event, ...(!control && { text }) });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  async close(): Promise<void> {
    await this.session.send('Target.disposeBrowserContext', { browserContextId: this.browserContextId });
    await this.session.detach();
  }

  private async send(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    this.lastId += 1;
    const id = this.lastId;
    const response = new Promise<Response>((resolve) => this.waiting.set(id, resolve));
    await this.session.send('Target.sendMessageToTarget', {
      sessionId: this.sessionId,
      message: JSON.stringify({ id, method, params }),
    });
    const { result = {}, error } = await response;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }
}
