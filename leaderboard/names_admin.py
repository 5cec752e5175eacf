"""Models' names in the admin: merge, split, rename and undo, each with a reason; nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.models import LanguageModel, ModelAlias, NameChange
from leaderboard.models.names import LONGEST_NAME, LONGEST_SLUG
from leaderboard.name_changes import MOST_AT_ONCE, PERMISSION, merge, rename, split, undo
from leaderboard.name_history import NamesError
from runs.admin import ReadOnlyAdmin


class ReasonForm(forms.Form):
    """What every change asks for."""

    reason = forms.CharField(
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 60}),
        help_text="Stays in the history of names.",
    )


class MergeForm(ReasonForm):
    into = forms.ModelChoiceField(
        LanguageModel.objects.none(),
        help_text="Keeps its name and address; the addresses of the others lead to it.",
    )
    field_order = ["into", "reason"]


class RenameForm(ReasonForm):
    name = forms.CharField(max_length=LONGEST_NAME)
    slug = forms.CharField(
        max_length=LONGEST_SLUG,
        required=False,
        label="New address",
        help_text="Empty: the address stays. An old address leads on for ever.",
    )
    field_order = ["name", "slug", "reason"]


class SplitForm(ReasonForm):
    name = forms.CharField(
        max_length=LONGEST_NAME,
        required=False,
        help_text="Empty: the model that these ids were before a merge, or the first id.",
    )
    field_order = ["name", "reason"]


class NamesAdmin(ReadOnlyAdmin):
    """Read by moderators; changed by its actions alone, which ask for a reason on a page."""

    def has_view_permission(self, request: HttpRequest, obj: object | None = None) -> bool:
        return super().has_view_permission(request, obj) or self.has_names_permission(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return super().has_module_permission(request) or self.has_names_permission(request)

    def has_names_permission(self, request: HttpRequest) -> bool:
        """Asked by the actions."""
        return isinstance(request.user, User) and request.user.has_perm(PERMISSION)

    def ask(
        self,
        request: HttpRequest,
        chosen: QuerySet[Any],
        action: str,
        form: type[ReasonForm],
        do: Callable[[User, dict[str, Any]], object],
        initial: dict[str, str] | None = None,
    ) -> HttpResponse | None:
        """Show `form`, and when it came back whole do the change and say so."""
        assert isinstance(request.user, User)
        filled = form(request.POST if "reason" in request.POST else None, initial=initial)
        if isinstance(filled, MergeForm):
            filled.fields["into"].queryset = chosen  # type: ignore[attr-defined]
        if filled.is_valid():
            try:
                do(request.user, filled.cleaned_data)
            except NamesError as error:
                filled.add_error(None, str(error))
            else:
                self.message_user(request, "Done; the board follows.", messages.SUCCESS)
                return None
        context = {
            **self.admin_site.each_context(request),
            "title": f"{action.capitalize()}: {chosen.count()} chosen",
            "action": action,
            "chosen": chosen[:MOST_AT_ONCE],
            "form": filled,
            "opts": self.model._meta,
        }
        return TemplateResponse(request, "leaderboard/change_names.html", context)

    def only_one(self, request: HttpRequest, chosen: QuerySet[Any]) -> Any:
        """The one chosen row; None, with a message, for several."""
        if chosen.count() == 1:
            return chosen.get()
        self.message_user(request, "Choose one.", messages.ERROR)
        return None


@admin.register(LanguageModel)
class LanguageModelAdmin(NamesAdmin):
    """Models under their names. Their ids are listed with them."""

    list_display = ["name", "slug", "family", "parameters_b", "ids", "merged_into"]
    list_filter = [("merged_into", admin.EmptyFieldListFilter), "family"]
    list_select_related = ["merged_into"]
    search_fields = ["name", "slugs__slug", "aliases__name"]
    actions = ["merge", "rename"]
    fields = readonly_fields = (
        *("name", "slug", "family", "parameters_b", "merged_into", "created_at"),
        *("all_slugs", "all_ids"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[LanguageModel]:
        models: QuerySet[LanguageModel] = super().get_queryset(request)
        return models.annotate(ids=Count("aliases", distinct=True))

    @admin.display(description="ids", ordering="ids")
    def ids(self, model: LanguageModel) -> int:
        return int(getattr(model, "ids", 0))

    @admin.display(description="addresses")
    def all_slugs(self, model: LanguageModel) -> SafeString:
        return _lines(model.slugs.order_by("pk").values_list("slug", flat=True)[:MOST_AT_ONCE])

    @admin.display(description="ids")
    def all_ids(self, model: LanguageModel) -> SafeString:
        return _lines(model.aliases.values_list("name", flat=True)[:MOST_AT_ONCE])

    @admin.action(description="Merge into one, with a reason", permissions=["names"])
    def merge(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> HttpResponse | None:
        def do(by: User, given: dict[str, Any]) -> None:
            merge(given["into"], list(queryset), by, given["reason"])

        return self.ask(request, queryset, "merge", MergeForm, do)

    @admin.action(description="Rename, with a reason", permissions=["names"])
    def rename(
        self, request: HttpRequest, queryset: QuerySet[LanguageModel]
    ) -> HttpResponse | None:
        model = self.only_one(request, queryset)
        if model is None:
            return None

        def do(by: User, given: dict[str, Any]) -> None:
            rename(model, given["name"], by, given["reason"], given["slug"])

        return self.ask(request, queryset, "rename", RenameForm, do, {"name": model.name})


@admin.register(ModelAlias)
class ModelAliasAdmin(NamesAdmin):
    """Ids as uploaded, and the models that they mean."""

    list_display = ["name", "canonical", "model", "runs", "created_at"]
    list_select_related = ["model"]
    search_fields = ["name", "canonical", "model__name"]
    actions = ["split"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModelAlias]:
        aliases: QuerySet[ModelAlias] = super().get_queryset(request)
        return aliases.annotate(runs=Count("entries"))

    @admin.display(description="runs", ordering="runs")
    def runs(self, alias: ModelAlias) -> int:
        return int(getattr(alias, "runs", 0))

    @admin.action(description="Split off, with a reason", permissions=["names"])
    def split(self, request: HttpRequest, queryset: QuerySet[ModelAlias]) -> HttpResponse | None:
        def do(by: User, given: dict[str, Any]) -> None:
            split(list(queryset), by, given["reason"], given["name"])

        return self.ask(request, queryset, "split", SplitForm, do)


@admin.register(NameChange)
class NameChangeAdmin(NamesAdmin):
    """Who changed which names, when and why; newest first."""

    list_display = ["created_at", "summary", "kind", "actor", "reason", "undone"]
    list_filter = ["kind"]
    list_select_related = ["actor", "undone_by"]
    search_fields = ["summary", "reason", "actor__username"]
    actions = ["undo"]

    @admin.display(description="undone", boolean=True)
    def undone(self, change: NameChange) -> bool:
        return hasattr(change, "undone_by")

    @admin.action(description="Undo, with a reason", permissions=["names"])
    def undo(self, request: HttpRequest, queryset: QuerySet[NameChange]) -> HttpResponse | None:
        change = self.only_one(request, queryset)
        if change is None:
            return None

        def do(by: User, given: dict[str, Any]) -> None:
            undo(change, by, given["reason"])

        return self.ask(request, queryset, "undo", ReasonForm, do)


def _lines(values: Any) -> SafeString:
    rows = format_html_join("", "<li>{}</li>", ((value,) for value in values))
    return format_html("<ul>{}</ul>", rows) if rows else SafeString("none")
