const WATCH_POLICY = `document.addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))`;

/** Methods of a Playwright page that are used here; this library does not depend on Playwright. */
interface WatchedPage {
  on(event: 'console', listener: (message: ConsoleMessage) => void): unknown;
  on(event: 'pageerror', listener: (error: Error) => void): unknown;
}

interface ConsoleMessage {
  type(): string;
  text(): string;
  location(): { url: string };
}

interface PageSource<Page> {
  addInitScript(script: string): Promise<unknown>;
  newPage(): Promise<Page>;
}

/**
 * Opens a page in a context of a browser.
 * @returns the page, and the list of its complaints, which grows: errors of scripts, resources that were refused or
 * could not be loaded, and breaches of its policy.
 */
export async function openWatched<Page extends WatchedPage>(
  context: PageSource<Page>,
): Promise<{ page: Page; complaints: string[] }> {
  await context.addInitScript(WATCH_POLICY);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    const text = message.text();
    // The browser ends requests when the machine gets a network interface, as when a container starts beside it; pages repeat them.
    if (message.type() !== 'error' || text.includes('net::ERR_NETWORK_CHANGED')) return;
    complaints.push(`${text} ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, complaints };
}
