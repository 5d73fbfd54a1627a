import { html } from '@pipeline/domain';
import { alert, type Page, page } from './layout.ts';

/** Explains why it does not continue, and what would help. */
export const noticePage = (title: string, problem: string, help: string): Page =>
  page(title, html`${alert(problem)}<p>${help}</p><p><a href="/account/connections">Your connections</a></p>`);
