"""What the public role adds to the settings: django-allauth with e-mail and passwords."""

from __future__ import annotations

ACCOUNT_APPS = ["allauth", "allauth.account"]
ACCOUNT_MIDDLEWARE = ["allauth.account.middleware.AccountMiddleware"]

AUTHENTICATION_BACKENDS = [
    "allauth.account.auth_backends.AuthenticationBackend",
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "account"
LOGOUT_REDIRECT_URL = "/"

ACCOUNT_ADAPTER = "benchloop_site.accounts.adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "benchloop_site.accounts.forms.LogInForm",
    "signup": "benchloop_site.accounts.forms.SignUpForm",
    "add_email": "benchloop_site.accounts.forms.NewEmailForm",
    "reset_password": "benchloop_site.accounts.forms.ResetForm",
    "reset_password_from_key": "benchloop_site.accounts.forms.ResetPasswordForm",
    "change_password": "benchloop_site.accounts.forms.ChangePasswordForm",
    "set_password": "benchloop_site.accounts.forms.SetPasswordForm",
    "reauthenticate": "benchloop_site.accounts.forms.PasswordForm",
}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
ACCOUNT_PRESERVE_USERNAME_CASING = False
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_CONFIRMATION_EXPIRE_DAYS = 3
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[BenchLoop] "
# Told to the owner of an account, never to an address that has none: strangers get no mail from us.
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_METHODS = ["password"]
ACCOUNT_REAUTHENTICATION_TIMEOUT = 15 * 60
