import { Dialog } from '@pipeline/web/components/dialog.tsx';
import { Login } from './login.tsx';

/** The session has ended: logging in again goes on where the page is. */
export default function SessionDialog() {
  return (
    <Dialog title="The session has ended" canClose={false} onClose={() => undefined}>
      <p>Log in to go on. The page and what was typed into it stay.</p>
      <Login onDone={() => undefined} />
    </Dialog>
  );
}
