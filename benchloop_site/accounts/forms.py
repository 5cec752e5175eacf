"""Forms of the account pages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from allauth.account import forms as allauth
from django import forms
from django.contrib import messages
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from submissions.models.keys import DEFAULT_SCOPES, SCOPES, ApiKey

MOST_KEYS = 25
NEVER = "never"
TERMS = {"30": "30 days", "90": "90 days", "365": "365 days", NEVER: "until I revoke it"}


PASSWORD_HELP = "8 characters or more, no common word, and not like your name."  # noqa: S105


class PlainForm:
    """Labels and help as the site words them; no placeholder that goes when somebody types."""

    words: Mapping[str, tuple[str, str]] = {}
    """Label and help of a field; an empty one leaves what the field has."""

    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.widget.attrs.pop("placeholder", None)
            label, help_text = self.words.get(name, ("", ""))
            field.label = label or field.label
            field.help_text = help_text or field.help_text


class LogInForm(PlainForm, allauth.LoginForm):  # type: ignore[misc]
    words = {
        "login": ("User name or e-mail", ""),
        "remember": ("Stay logged in on this device", ""),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs["autocomplete"] = "username"


class SignUpForm(PlainForm, allauth.SignupForm):  # type: ignore[misc]
    words = {
        "username": (
            "User name",
            "Shown beside your runs. 3 to 30 characters: letters, digits, - and _.",
        ),
        "email": ("E-mail", "To confirm that it is you. Shown to nobody."),
        "password1": ("", PASSWORD_HELP),
    }

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponseBase | None]:
        """As allauth's; of two who take a name at the same moment one is told so.

        Where the address has an account already, the same time is spent on the password: the answer
        is the same too, and must not tell the difference by its speed.
        """
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
        try:
            with transaction.atomic():
                user, response = super().try_save(request)
        except IntegrityError:
            messages.error(request, "This name was taken a moment ago. Choose another one.")
            return None, HttpResponseRedirect(reverse("account_signup"))
        return user, response


class NewEmailForm(PlainForm, allauth.AddEmailForm):  # type: ignore[misc]
    words = {"email": ("New e-mail", "")}


class ResetForm(PlainForm, allauth.ResetPasswordForm):  # type: ignore[misc]
    words = {"email": ("E-mail", "")}


class ChangePasswordForm(PlainForm, allauth.ChangePasswordForm):  # type: ignore[misc]
    words = {
        "oldpassword": ("Present password", ""),
        "password1": ("New password", PASSWORD_HELP),
        "password2": ("New password again", ""),
    }


class SetPasswordForm(PlainForm, allauth.SetPasswordForm):  # type: ignore[misc]
    words = {"password1": ("New password", PASSWORD_HELP), "password2": ("New password again", "")}


class ResetPasswordForm(PlainForm, allauth.ResetPasswordKeyForm):  # type: ignore[misc]
    words = SetPasswordForm.words


class PasswordForm(PlainForm, allauth.ReauthenticateForm):  # type: ignore[misc]
    pass


class KeyForm(forms.Form):
    """A new key of `owner`."""

    name = forms.CharField(
        max_length=60, help_text="Where it will be used, such as laptop or ci. Only you see it."
    )
    scopes = forms.MultipleChoiceField(
        label="It may",
        choices=[(scope, scope) for scope in SCOPES],
        initial=list(DEFAULT_SCOPES),
        widget=forms.CheckboxSelectMultiple,
    )
    expires = forms.ChoiceField(label="Good for", choices=list(TERMS.items()), initial="90")

    def __init__(self, owner: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not name.isprintable():
            raise forms.ValidationError("A name has no invisible or control characters.")
        # A form that is sent twice makes one key.
        if any(key.name == name for key in self._active()):
            raise forms.ValidationError("You have a key of this name already.")
        return name

    def clean(self) -> dict[str, Any] | None:
        if len(self._active()) >= MOST_KEYS:
            raise forms.ValidationError(f"You have {MOST_KEYS} keys. Revoke one of them first.")
        return super().clean()

    def expires_at(self) -> datetime | None:
        """When the key ends; None is never."""
        term = self.cleaned_data["expires"]
        return None if term == NEVER else timezone.now() + timedelta(days=int(term))

    def _active(self) -> list[ApiKey]:
        return [key for key in self.owner.api_keys.all() if key.state() == "active"]


class CloseForm(forms.Form):
    """Closing the account: what becomes of the runs, and the name once more."""

    KEEP, WITHDRAW = "keep", "withdraw"

    runs = forms.ChoiceField(
        label="Your runs",
        choices=[
            (KEEP, "stay, under a neutral name"),
            (WITHDRAW, "are withdrawn, for good"),
        ],
        widget=forms.RadioSelect,
        initial=KEEP,
    )
    username = forms.CharField(label="Your user name, to be sure", max_length=150)

    def __init__(self, owner: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner
        self.fields["username"].widget.attrs["autocomplete"] = "off"

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if name.lower() != self.owner.username.lower():
            raise forms.ValidationError("This is not your user name.")
        return name
