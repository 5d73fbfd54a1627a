import type { ComponentProps, KeyboardEvent } from 'react';

interface PressButtonProps extends Omit<ComponentProps<'button'>, 'onClick' | 'disabled' | 'style'> {
  onPress?: (() => void) | undefined;
  isDisabled?: boolean | undefined;
}

/** A held Enter would press the button of the dialog that its first press has opened. */
const withoutRepeat = (event: KeyboardEvent): void => {
  if (event.repeat && event.key === 'Enter') event.preventDefault();
};

/** The browser's own button: that of React Aria takes a fifth of the script and of the work of the first view. */
export function PressButton({ type = 'button', onPress, isDisabled, onKeyDown, ...props }: PressButtonProps) {
  return (
    <button
      {...props}
      type={type}
      disabled={isDisabled}
      onKeyDown={(event) => {
        withoutRepeat(event);
        onKeyDown?.(event);
      }}
      onClick={({ currentTarget }) => {
        // Safari does not focus a pressed button: a dialog could not give the focus back.
        currentTarget.focus();
        onPress?.();
      }}
    />
  );
}
